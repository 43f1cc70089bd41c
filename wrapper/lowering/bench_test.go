// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
)

// largePlan is the JSON form of a plan that makes n interfaces; twins makes all
// alike.
func largePlan(n int, twins bool) []byte {
	const values = `{"name":%q,"location":"westeurope","resource_group_name":"net-rg","public_ip_id":null,"network_security_group_id":null,
		"tags":{"owner":"ops","cost":"4711","made":"by hand"}}`
	const change = `{"address":"simcloud_network_interface.n[%[1]d]","mode":"managed","type":"simcloud_network_interface","name":"n","index":%[1]d,
		"provider_name":"registry.terraform.io/tfweaver/simcloud","change":{"actions":["create"],"before":null,"after":%[2]s,
		"after_unknown":{"id":true,"subnet_id":true,"private_ip_address":true,"tags":{}},"before_sensitive":false,"after_sensitive":{"tags":{}}}}`
	const planned = `{"address":"simcloud_network_interface.n[%[1]d]","mode":"managed","type":"simcloud_network_interface","name":"n","index":%[1]d,
		"provider_name":"registry.terraform.io/tfweaver/simcloud","schema_version":0,"values":%[2]s,"sensitive_values":{"tags":{}}}`
	var resources, changes []string
	for i := range n {
		name := "same"
		if !twins {
			name = fmt.Sprintf("nic-%d", i)
		}
		v := fmt.Sprintf(values, name)
		resources, changes = append(resources, fmt.Sprintf(planned, i, v)), append(changes, fmt.Sprintf(change, i, v))
	}
	return []byte(`{"format_version":"1.2","planned_values":{"root_module":{"resources":[` + strings.Join(resources, ",") + `]}},
		"resource_changes":[` + strings.Join(changes, ",") + `],"configuration":{"root_module":{"resources":[
		{"address":"simcloud_network_interface.n","mode":"managed","type":"simcloud_network_interface","name":"n","provider_config_key":"simcloud",
		"expressions":{"subnet_id":{"references":["simcloud_subnet.s.id","simcloud_subnet.s"]}},"schema_version":0}]}}}`)
}

func large(tb testing.TB, src []byte) *lowering.Plan {
	tb.Helper()
	p, err := lowering.ReadFrom(tb.Context(), bytes.NewReader(src), lowering.Sources{Schema: schema})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// BenchmarkRead reads plans of 5,000 resources. live is what the plan keeps in
// memory.
func BenchmarkRead(b *testing.B) {
	src := largePlan(5000, false)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	var p *lowering.Plan
	before := liveBytes()
	for b.Loop() {
		p = large(b, src)
	}
	b.ReportMetric(float64(liveBytes()-before)/1e6, "live-MB")
	runtime.KeepAlive(p)
}

func liveBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkMatchCall finds the changes of 5,000 calls.
func BenchmarkMatchCall(b *testing.B) {
	for _, twins := range []bool{false, true} {
		b.Run(fmt.Sprintf("twins=%v", twins), func(b *testing.B) {
			src := largePlan(5000, twins)
			for b.Loop() {
				b.StopTimer()
				p := large(b, src)
				calls := p.Operations()
				b.StartTimer()
				for _, op := range calls {
					p.Succeeded(p.MatchCall(sent(op, stays)))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/5000, "ns/call")
		})
	}
}

// A plan of thousands is matched call by call with an index: each call looks at
// the changes with its own texts only.
func TestCallsOfALargePlan(t *testing.T) {
	t.Parallel()
	p := large(t, largePlan(2000, false))
	for _, op := range p.Operations() {
		if m := p.MatchCall(sent(op, stays)); m.Name() != op.Address {
			t.Fatalf("%s is called %q", op.Address, m.Name())
		}
	}
	p = large(t, largePlan(2000, true))
	seen := map[admission.CallID]bool{}
	for _, op := range p.Operations() {
		m := p.MatchCall(sent(op, stays))
		seen[m.ID] = true
		if !strings.HasSuffix(m.Name(), " and 1996 more") {
			t.Fatalf("%s is called %q", op.Address, m.Name())
		}
	}
	if len(seen) != 2000 {
		t.Errorf("%d changes were taken by 2000 calls", len(seen))
	}
}
