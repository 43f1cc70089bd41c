// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// TestLoggerLevels: the values of TF_LOG mean what they mean to the CLI.
func TestLoggerLevels(t *testing.T) {
	t.Parallel()
	for level, lines := range map[string]int{
		"": 0, "off": 0, "OFF": 0, "error": 1, "WARN": 2, "Info": 3, "DEBUG": 4, "trace": 5, "1": 5, "JSON": 5,
	} {
		var out bytes.Buffer
		log := NewLogger(&out, level).Named("terraform-provider-x_v1")
		log.Error("e")
		log.Warn("w")
		log.Info("i")
		log.Debug("d")
		log.Trace("t")
		if n := strings.Count(out.String(), "\n"); n != lines {
			t.Errorf("%q: %d lines, want %d", level, n, lines)
		}
		if (lines == 0) != (log.GetLevel() == hclog.Off) {
			t.Errorf("%q: says it writes at %v", level, log.GetLevel())
		}
	}
}

func TestLoggerForms(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	NewLogger(&out, "debug").Named("terraform-provider-x_v1").Info("made it", "@module", "x", "id", 7)
	if !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\S+ \[INFO\]  provider\.terraform-provider-x_v1: made it: @module=x id=7\n$`).MatchString(out.String()) {
		t.Errorf("line is %q", out.String())
	}
	out.Reset()
	NewLogger(&out, "json").Info("made it")
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line["@module"] != "provider" {
		t.Errorf("line is %q, %v", out.String(), err)
	}
}

// What a provider prints is passed on line by line, whatever parts it comes in.
func TestLineLogger(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := &lineLogger{logger: NewLogger(&out, "warn"), origin: "h/n/x:stdout"}
	for _, part := range []string{"one", " line\ntwo\n", "thr"} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	text := out.String()
	if strings.Count(text, "\n") != 2 || !strings.Contains(text, `unexpected data: h/n/x:stdout="one line"`) || strings.Contains(text, "thr") {
		t.Errorf("%s", text)
	}
	_, _ = w.Write(bytes.Repeat([]byte("y"), 2*maxTrace))
	if len(w.line) > maxTrace {
		t.Errorf("keeps %d bytes of a line without end", len(w.line))
	}
}
