// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// TestTheLogSaysWhichLifeOfAnObjectWasMet has an object that is created again
// under its id, by its own deletion, by that of its group and after a failure.
func TestTheLogSaysWhichLifeOfAnObjectWasMet(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{})
	l.built(group(), pip("p"), pip("P")) // the second one is an update
	first := l.get(pipPath + "p").Properties.UniqueID
	l.must(l.delete(pipPath + "p"))
	l.busy(l.send(pip("p")))
	l.settle()
	l.must(l.delete(pipPath + "p")) // nothing is there
	l.built(pip("p"))
	second := l.get(pipPath + "p").Properties.UniqueID
	l.must(l.delete(groupPath))
	l.settle()
	l.built(group())
	id, err := arm.ParseID(pipPath + "p")
	if err != nil {
		t.Fatal(err)
	}
	l.cloud.FailNext(id, "Odd", "odd")
	l.built(pip("p"), pip("p")) // a failed creation and its repair are one life
	third := l.get(pipPath + "p").Properties.UniqueID
	if first == "" || first == second || second == third {
		t.Errorf("lives have the names %q, %q, %q", first, second, third)
	}
	type row struct {
		Method, Status string
		Creates        bool
		Incarnation    int
		UID            string
	}
	var got []row
	for _, e := range l.cloud.Events() {
		if e.ObjectType == arm.PublicIPAddress.Type() {
			got = append(got, row{e.Method, string(e.Status), e.Creates, e.Incarnation, e.UID})
		}
	}
	want := []row{
		{"PUT", "Accepted", true, 1, first},
		{"PUT", "Succeeded", false, 1, first},
		{"PUT", "Accepted", false, 1, first},
		{"PUT", "Succeeded", false, 1, first},
		{"DELETE", "Accepted", false, 1, first},
		{"PUT", "Refused", false, 1, first},
		{"DELETE", "Succeeded", false, 1, first},
		{"DELETE", "Succeeded", false, 0, ""},
		{"PUT", "Accepted", true, 2, second},
		{"PUT", "Succeeded", false, 2, second},
		{"PUT", "Accepted", true, 3, third},
		{"PUT", "Failed", false, 3, third},
		{"PUT", "Accepted", true, 3, third},
		{"PUT", "Succeeded", false, 3, third},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, o := range l.log().Operations {
		if o.Incarnation == 0 || o.UID == "" || o.Received != o.Start {
			t.Errorf("operation %+v", o)
		}
	}
}

// TestACanceledCreationIsALifeToo keeps the numbers of lives apart when one ends
// before it was complete.
func TestACanceledCreationIsALifeToo(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{Supersede: true})
	l.built(group(), network())
	l.must(l.send(subnet("a", "10.0.1.0/24")))
	l.must(l.send(network()))
	l.settle()
	l.gone(subnetPath + "a")
	l.built(subnet("a", "10.0.1.0/24"))
	var lives []int
	for _, o := range l.log().Operations {
		if o.ObjectType == arm.Subnet.Type() {
			lives = append(lives, o.Incarnation)
		}
	}
	if diff := cmp.Diff([]int{1, 2}, lives); diff != "" {
		t.Error(diff)
	}
	if n := l.log().RefusedWith("x"); n != 0 || l.log().Operations[2].Result != activity.Canceled {
		t.Errorf("the creation ended %s", l.log().Operations[2].Result)
	}
}
