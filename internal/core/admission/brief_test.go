// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// TestRequestStandsOnce: a record of a Submit has the request once where the
// decision repeats it, and gives the command back as it was.
func TestRequestStandsOnce(t *testing.T) {
	t.Parallel()
	request := Request{
		Session: "s", Address: "only.once", Action: Update, Self: "r",
		Nodes: []graph.Decl{{ID: "r", Kind: graph.Realm}}, Locks: lock.Plan{{Node: "r"}},
	}
	attributed, other := request, request
	attributed.Intent = "first"
	other.Locks = append(lock.Plan{}, request.Locks...)
	for _, c := range []struct {
		name    string
		decided Request
		times   int
	}{
		{"as it is", request, 1},
		{"with the first intent", attributed, 1},
		{"with another list", other, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want := Record{
				Index: 2, Now: 3, Command: Submit{Stamp: Stamp{Now: 3}, ID: "t2", Request: request},
				Events: []Event{TxSubmitted{Tx: Tx{ID: "t2", Request: c.decided}}},
			}
			data, err := EncodeRecord(want)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(data), "only.once"); n != c.times {
				t.Errorf("the request stands there %d times: %s", n, data)
			}
			got, err := DecodeRecord(data)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestNoRequest: a Submit without a request anywhere is not taken for an empty
// one.
func TestNoRequest(t *testing.T) {
	t.Parallel()
	data, err := EncodeRecord(Record{
		Index: 2, Command: Submit{ID: "t2"}, Events: []Event{TxSubmitted{Tx: Tx{ID: "t2"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	lost := strings.Replace(string(data), `"id":"t2"`, `"id":"t3"`, 1)
	if _, err := DecodeRecord([]byte(lost)); !errors.Is(err, ErrMalformed) {
		t.Errorf("error %v", err)
	}
}

// TestSameLooksAtEverything: no part of a request may differ from what the
// record then says it was, parts that are yet to come neither.
func TestSameLooksAtEverything(t *testing.T) {
	t.Parallel()
	var plain Request
	if !same(&plain, &plain) {
		t.Fatal("a request is not like itself")
	}
	kind := reflect.TypeFor[Request]()
	for i := range kind.NumField() {
		changed := plain
		set(t, reflect.ValueOf(&changed).Elem().Field(i))
		if same(&changed, &plain) {
			t.Errorf("%s may differ", kind.Field(i).Name)
		}
		if kind.Field(i).Name != "Intent" && same(&plain, &changed) {
			t.Errorf("%s may be missing", kind.Field(i).Name)
		}
		if f := reflect.ValueOf(&changed).Elem().Field(i); f.Kind() == reflect.Slice {
			f.Set(reflect.MakeSlice(f.Type(), 0, 0)) // none is not unknown
			if same(&changed, &plain) || same(&plain, &changed) {
				t.Errorf("%s may be none or nil", kind.Field(i).Name)
			}
		}
	}
}

// set gives a value that is not the zero one.
func set(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int64:
		v.SetInt(1)
	case reflect.Uint64:
		v.SetUint(1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	default:
		t.Fatalf("no value of %s", v.Type())
	}
}
