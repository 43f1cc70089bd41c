// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// draw draws every field of a value, each of them empty as often as not.
func draw(t *rapid.T, v reflect.Value) {
	if v.Kind() != reflect.Struct && rapid.Bool().Draw(t, "empty") {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			draw(t, v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), rapid.IntRange(0, 2).Draw(t, "length"), 2))
		for i := range v.Len() {
			draw(t, v.Index(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		draw(t, v.Elem())
	case reflect.String:
		v.SetString(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{`m.x["k"].y`, `\`, "<&>", "\xff", "\u2028"})).Draw(t, "text"))
	case reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "time"))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, "count"))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint(uint64(rapid.IntRange(int(mode.NL), int(mode.X)).Draw(t, "mode")))
	default:
		t.Fatalf("a field of kind %s", v.Kind())
	}
}

// TestWrittenAsJSON: what is written without reflection is what encoding/json
// writes, byte by byte, with any fields set. A field that is added and not written
// is found here.
func TestWrittenAsJSON(t *testing.T) {
	t.Parallel()
	for _, sample := range []any{
		TxSubmitted{}, TxAdmitted{}, TxStarted{}, TxEnded{}, briefSubmit{}, Start{}, Complete{}, Withdraw{}, Renew{},
	} {
		t.Run(reflect.TypeOf(sample).Name(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				v := reflect.New(reflect.TypeOf(sample)).Elem()
				draw(t, v)
				want, err := json.Marshal(v.Interface())
				if err != nil {
					t.Skip(err) // such as a bucket without a limit
				}
				got, err := appendValue([]byte("before"), v.Interface())
				if err != nil || !bytes.Equal(got, append([]byte("before"), want...)) {
					t.Fatalf("%s\nnot\n%s: %v", got, want, err)
				}
			})
		})
	}
}

// TestNoModeIsNotWritten: a lock in a mode that there is not has no form.
func TestNoModeIsNotWritten(t *testing.T) {
	t.Parallel()
	request := write("a", Update, "r/x")
	request.Locks[0].Mode = 99
	if data, err := appendValue(nil, TxSubmitted{Tx: Tx{Request: request}}); err == nil {
		t.Errorf("written as %s", data)
	}
}
