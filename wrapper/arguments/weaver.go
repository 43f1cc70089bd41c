// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arguments

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The policies that -weaver-policy takes.
const (
	PolicyQueue  = "queue"
	PolicyReject = "reject"
)

// DefaultWait is how long a call waits behind other sessions before it is
// refused: well below the time limit of the usual CI job.
const DefaultWait = 10 * time.Minute

// prefix is what all of tfweaver's own options begin with.
const prefix = "weaver-"

// Weaver holds tfweaver's own options.
type Weaver struct {
	// Intent is the objective in the user's words; empty for the default.
	Intent string
	// Wait bounds the time behind other sessions per call; 0 fails at once.
	Wait time.Duration
	// Policy is PolicyQueue or PolicyReject.
	Policy string
	// Coordinator is the address of the coordinator; empty for the embedded
	// one.
	Coordinator string
	// Off runs Terraform alone, with no coordination.
	Off bool
	// ExitCodes makes a refusal inside a run exit 75 instead of 1.
	ExitCodes bool
	// Rules is a folder with more rule packs.
	Rules string
	// Version asks for tfweaver's own version.
	Version bool
	// CoordinatorFrom and RulesFrom are the option or the variable that
	// Coordinator and Rules come from; empty when neither is set.
	CoordinatorFrom, RulesFrom string
}

// note remembers where a value comes from.
func (w *Weaver) note(option, source string) {
	switch option {
	case "coordinator":
		w.CoordinatorFrom = source
	case "rules":
		w.RulesFrom = source
	}
}

// UsageError is a mistake in one of tfweaver's own options.
type UsageError struct {
	// Name is the option or the environment variable.
	Name string
	// Reason says what is wrong with it.
	Reason string
}

// Error names the option and the reason.
func (e *UsageError) Error() string { return fmt.Sprintf("%s: %s", e.Name, e.Reason) }

// option is one of tfweaver's own options.
type option struct {
	// env is the variable; empty for an option of the command line alone.
	env    string
	isBool bool
	set    func(w *Weaver, value string) error
}

func options() map[string]option {
	text := func(field func(*Weaver) *string) func(*Weaver, string) error {
		return func(w *Weaver, v string) error { *field(w) = v; return nil }
	}
	boolean := func(field func(*Weaver) *bool) func(*Weaver, string) error {
		return func(w *Weaver, v string) error {
			b, err := strconv.ParseBool(v)
			if err != nil {
				return fmt.Errorf("%q is neither true nor false", v)
			}
			*field(w) = b
			return nil
		}
	}
	return map[string]option{
		"intent":      {env: "TFWEAVER_INTENT", set: text(func(w *Weaver) *string { return &w.Intent })},
		"wait":        {env: "TFWEAVER_WAIT", set: setWait},
		"policy":      {env: "TFWEAVER_POLICY", set: setPolicy},
		"coordinator": {env: "TFWEAVER_COORDINATOR", set: text(func(w *Weaver) *string { return &w.Coordinator })},
		"rules":       {env: "TFWEAVER_RULES", set: text(func(w *Weaver) *string { return &w.Rules })},
		"off":         {env: "TFWEAVER_OFF", isBool: true, set: boolean(func(w *Weaver) *bool { return &w.Off })},
		"exit-codes":  {env: "TFWEAVER_EXIT_CODES", isBool: true, set: boolean(func(w *Weaver) *bool { return &w.ExitCodes })},
		"version":     {isBool: true, set: boolean(func(w *Weaver) *bool { return &w.Version })},
	}
}

func setWait(w *Weaver, v string) error {
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is not a duration such as 90s, 10m or 0s", v)
	}
	w.Wait = d
	return nil
}

func setPolicy(w *Weaver, v string) error {
	if v != PolicyQueue && v != PolicyReject {
		return fmt.Errorf("%q is neither %s nor %s", v, PolicyQueue, PolicyReject)
	}
	w.Policy = v
	return nil
}

// weaverFromEnvironment gives the options their values before the command
// line is read. An empty variable counts as not set.
func weaverFromEnvironment(env Environment) (Weaver, error) {
	w := Weaver{Wait: DefaultWait, Policy: PolicyQueue}
	for name, o := range options() {
		v := ""
		if o.env != "" {
			v = env.Get(o.env)
		}
		if v == "" {
			continue
		}
		if err := o.set(&w, v); err != nil {
			return Weaver{}, &UsageError{Name: o.env, Reason: err.Error()}
		}
		w.note(name, o.env)
	}
	return w, nil
}

// take reads one of tfweaver's options from the front of args and returns how
// many arguments it used; 0 when the first argument is none.
func (w *Weaver) take(args []string) (int, error) {
	name, value, hasValue, ok := splitFlag(args[0])
	if !ok || !strings.HasPrefix(name, prefix) {
		return 0, nil
	}
	o, known := options()[strings.TrimPrefix(name, prefix)]
	if !known {
		return 0, &UsageError{Name: "-" + name, Reason: "tfweaver has no such option"}
	}
	used := 1
	switch {
	case hasValue:
	case o.isBool:
		value = "true"
	case len(args) < 2:
		return 0, &UsageError{Name: "-" + name, Reason: "the option needs a value"}
	default:
		value, used = args[1], 2
	}
	if err := o.set(w, value); err != nil {
		return 0, &UsageError{Name: "-" + name, Reason: err.Error()}
	}
	w.note(strings.TrimPrefix(name, prefix), "-"+name)
	return used, nil
}

// settle gives the options that depend on each other their final values: not
// waiting at all and refusing at once are the same thing.
func (w *Weaver) settle() {
	if w.Wait == 0 {
		w.Policy = PolicyReject
	}
}
