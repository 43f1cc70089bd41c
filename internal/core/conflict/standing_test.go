// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package conflict

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// everything are all situations that reports are about.
func everything() map[string]func(t *testing.T) *story {
	all := cases()
	maps.Copy(all, standings())
	maps.Copy(all, crowds())
	return all
}

// ended tells a story in which t-12 came to an end a while ago.
func ended12(how func(s *story)) func(t *testing.T) *story {
	return func(t *testing.T) *story {
		s := tell(t, admission.Queue)
		s.subnetB()
		how(s)
		s.pass(3 * time.Minute)
		return s
	}
}

// standings are situations in which nothing is in the way of t-12.
func standings() map[string]func(t *testing.T) *story {
	return map[string]func(t *testing.T) *story{
		"in flight": func(t *testing.T) *story {
			s := tell(t, admission.Queue)
			s.submit("t-12", subnet("web-3", "b"), own(vnet+"/b"), slot("create"),
				lock.Want{Node: "sub/rg/nic-9", Mode: mode.S, Relation: lock.Reference, Class: "dependency"})
			s.start("t-12")
			s.pass(41 * time.Second)
			return s
		},
		"lost": ended12(func(s *story) { s.end("t-12", admission.Lost, false) }),
		"lost far down": func(t *testing.T) *story {
			s := tell(t, admission.Queue)
			q := subnet("web-3", "b")
			q.Address = "module.network.module.subnets.simcloud_subnet.front_end_of_the_shop"
			q.Self = "simcloud:127.0.0.1:8080/subscriptions/00000000-0000-0000-0000-000000000000/resourcegroups/" +
				"shops-of-the-west/providers/microsoft.network/virtualnetworks/shared/subnets/front-end"
			q.Nodes = append(nodes(), graph.Decl{ID: q.Self, Parent: vnet, Kind: graph.Resource, Type: "simcloud_subnet"})
			s.submitAt("t-12", q, own(q.Self), slot("create"))
			s.end("t-12", admission.Lost, false)
			s.pass(2 * time.Hour)
			return s
		},
		"bound": func(t *testing.T) *story {
			s := tell(t, admission.Queue)
			q := subnet("web-3", "b")
			q.Self = vnet + "/~name/subnets/b"
			q.Nodes = append(nodes(), graph.Decl{ID: q.Self, Parent: vnet, Kind: graph.Name})
			s.submitAt("t-12", q, own(q.Self))
			tx := s.start("t-12")
			s.do(admission.Complete{
				Stamp: s.at(), Tx: tx.ID, Token: tx.Token, Result: admission.Succeeded,
				Bind: graph.Decl{ID: vnet + "/4711", Parent: vnet, Kind: graph.Resource, Type: "simcloud_subnet"},
			})
			return s
		},
		"not bound": func(t *testing.T) *story {
			s := tell(t, admission.Queue)
			q := subnet("web-3", "b")
			q.Self = vnet + "/~name/subnets/b"
			q.Nodes = append(nodes(), graph.Decl{ID: q.Self, Parent: vnet, Kind: graph.Name})
			s.submitAt("t-12", q, own(q.Self))
			s.start("t-12")
			return s
		},
		"made":    ended12(func(s *story) { s.end("t-12", admission.Succeeded, true) }),
		"failed":  ended12(func(s *story) { s.end("t-12", admission.Errored, false) }),
		"damaged": ended12(func(s *story) { s.end("t-12", admission.Errored, true) }),
		"settled": ended12(func(s *story) {
			s.end("t-12", admission.Lost, false)
			s.do(admission.Resolve{Stamp: s.at(), Tx: "t-12", Exists: true, Actor: "carol", Reason: "the portal shows it"})
		}),
		"withdrawn": func(t *testing.T) *story {
			s := tell(t, admission.Queue)
			s.subnetB()
			s.do(admission.CloseSession{Stamp: s.at(), Session: "web-3"})
			s.now = s.now.Add(3 * time.Minute)
			s.do(admission.Renew{Stamp: s.at(), Session: "net-7"})
			return s
		},
	}
}

// interfaces makes network interfaces on subnet b, in the name of a session.
func (s *story) interfaces(session admission.SessionID, names ...string) {
	for _, n := range names {
		self := graph.NodeID("sub/rg/" + n)
		q := admission.Request{
			Session: session, Action: admission.Create, Address: "simcloud_network_interface." + n,
			Type: "simcloud_network_interface", Self: self,
			Nodes: append(nodes(), graph.Decl{ID: self, Parent: "sub/rg", Kind: graph.Resource, Type: "simcloud_network_interface"}),
			Edges: []graph.Edge{
				{From: self, To: vnet + "/b", Kind: graph.References},
				{From: self, To: vnet + "/b", Kind: graph.Attaches},
			},
		}
		id := fmt.Sprintf("t-%s-%s", session, n)
		s.submitAt(id, q, own(self))
		s.end(id, admission.Succeeded, true)
	}
}

func (s *story) join(id admission.SessionID, actor, objective, state string) {
	s.do(admission.OpenSession{
		Stamp:   s.at(),
		Session: admission.Session{ID: id, Actor: actor, Origin: state, Lease: 3600 * second},
		Intent:  admission.Intent{ID: admission.IntentID("i-" + id), Objective: objective},
	})
}

// destroyB deletes subnet b in t-12.
func (s *story) destroyB() {
	q := subnet("web-3", "b")
	q.Action = admission.Delete
	q.Guards = []admission.Guard{{Kind: admission.Unreferenced, Node: q.Self, Rule: "simcloud/simcloud_subnet.delete#in-use"}}
	s.submit("t-12", q, own(vnet+"/b"), slot("delete"))
}

// crowds are situations in which more than one other side is in the way.
func crowds() map[string]func(t *testing.T) *story {
	inUse := func(use func(s *story)) func(t *testing.T) *story {
		return func(t *testing.T) *story {
			s := tell(t, admission.Queue)
			s.join("ops-5", "carol", "monitoring", "state-c")
			s.join("web-2", "bob", "first roll-out", "state-b")
			use(s)
			s.pass(3 * time.Minute)
			s.destroyB()
			return s
		}
	}
	names := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprintf("nic-%d", 10+i))
		}
		return list
	}
	return map[string]func(t *testing.T) *story{
		"used by two": inUse(func(s *story) { s.interfaces("net-7", "nic-1"); s.interfaces("ops-5", "nic-2") }),
		"used by all": inUse(func(s *story) {
			s.interfaces("web-2", "nic-1")
			s.interfaces("web-3", "nic-2")
			s.interfaces("ops-5", "nic-3")
		}),
		"used by six":        inUse(func(s *story) { s.interfaces("net-7", names(3)...); s.interfaces("ops-5", "a", "b", "c") }),
		"used by many":       inUse(func(s *story) { s.interfaces("net-7", names(20)...) }),
		"used by the state":  inUse(func(s *story) { s.interfaces("web-2", "nic-1") }),
		"used by its states": inUse(func(s *story) { s.interfaces("web-2", "nic-1", "nic-2") }),
		"called alike": inUse(func(s *story) {
			for i, kind := range []string{"simcloud_route", "simcloud_service", "simcloud_disk"} {
				self := vnet + "/b/" + graph.NodeID(kind) + "/web"
				q := admission.Request{
					Session: "ops-5", Action: admission.Create, Address: kind + ".web", Type: kind, Self: self,
					Nodes: append(nodes(), graph.Decl{ID: self, Parent: vnet + "/b", Kind: graph.Resource, Type: kind}),
				}
				id := fmt.Sprintf("t-%d", i)
				s.submitAt(id, q, own(self))
				s.end(id, admission.Succeeded, true)
			}
			s.interfaces("net-7", "nic-1", "nic-2")
		}),
		"containing": inUse(func(s *story) {
			self := vnet + "/b/route"
			q := admission.Request{
				Session: "ops-5", Action: admission.Create, Address: "simcloud_route.r", Type: "simcloud_route", Self: self,
				Nodes: append(nodes(), graph.Decl{ID: self, Parent: vnet + "/b", Kind: graph.Resource, Type: "simcloud_route"}),
			}
			s.submitAt("t-1", q, own(self))
			s.end("t-1", admission.Succeeded, true)
		}),
		"seen only": inUse(func(s *story) {
			nic := graph.Decl{ID: "sub/rg/nic-1", Parent: "sub/rg", Kind: graph.Resource, Type: "simcloud_network_interface"}
			s.do(admission.Observe{
				Stamp: s.at(), Session: "net-7", Began: s.Index(), Nodes: nodes(),
				Objects: []admission.Observation{{Decl: nic, Exists: true, Edges: []graph.Edge{{From: nic.ID, To: vnet + "/b", Kind: graph.References}}}},
			})
		}),
		"refused a while ago": func(t *testing.T) *story {
			s := inUse(func(s *story) { s.interfaces("net-7", "nic-1") })(t)
			s.pass(time.Hour)
			return s
		},
		"behind two": func(t *testing.T) *story {
			s := tell(t, admission.Queue)
			s.join("ops-5", "carol", "monitoring", "state-c")
			s.subnetA()
			s.start("t-11")
			s.pass(20 * time.Second)
			s.submit("t-5", network("ops-5", admission.Update), slot("update"))
			s.subnetB()
			return s
		},
	}
}

// TestForecastText: nobody is sent to ask about a transaction that is not there.
func TestForecastText(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"used by two": "simcloud_subnet.b is refused: subnet b is still used by network interface nic-1 of alice (intent\n" +
			"'add app subnet', seen 3 min ago) and 1 more: nic-2 of carol (3 min).\n" +
			"Delete or detach them first, or ask alice or carol.",
		"running": "simcloud_subnet.b waits: virtual network vnet-1 is being changed by alice (session net-7, intent\n" +
			"'add app subnet', 42 s, https://ci.example/7).",
	} {
		s := everything()[name](t)
		tx, _ := s.Tx("t-12")
		if !tx.Status.Final() {
			s.do(admission.Withdraw{Stamp: s.at(), Tx: "t-12", Cause: "test"})
		}
		q := tx.Request
		r := BuildProspect(s.State, q, s.Forecast([]admission.Request{q})[0])
		if got := Text(r); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
		if len(r.Actions) == 0 || r.Status != "" {
			t.Errorf("%s: %+v", name, r)
		}
		r.Actions = nil
		if got := Text(r); got != want {
			t.Errorf("%s without advice:\n%s", name, got)
		}
	}
}

// TestNothingCircular: whoever asks why is not told to ask why.
func TestNothingCircular(t *testing.T) {
	t.Parallel()
	for name, build := range everything() {
		r := Build(build(t).State, "t-12", "")
		if said := Text(r) + fmt.Sprint(r.Actions); strings.Contains(said, "tfweaver why") || strings.Contains(said, "Ctrl-C") {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// TestAddressesAreWhole: an address that a line can hold is never cut.
func TestAddressesAreWhole(t *testing.T) {
	t.Parallel()
	for n := 1; n <= Width-len(" waits:"); n++ {
		address := strings.Repeat("x", n)
		for name, build := range everything() {
			r := Build(build(t).State, "t-12", "web-3")
			if r.Address == "" {
				continue
			}
			r.Address = address
			for _, l := range strings.Split(Text(r), "\n") {
				if utf8.RuneCountInString(l) > Width {
					t.Fatalf("%s: a line of %d columns", name, utf8.RuneCountInString(l))
				}
			}
			if !strings.Contains(Text(r), address) {
				t.Fatalf("%s: %d columns are cut: %s", name, n, Text(r))
			}
		}
	}
}
