// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arguments

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The policies that -weaver-policy takes.
const (
	PolicyQueue  = "queue"
	PolicyReject = "reject"
)

// The modes that -weaver-mode takes: how far coordination goes.
const (
	// ModeOff does not coordinate.
	ModeOff = "off"
	// ModeObserve never delays a change, and notes what would have been.
	ModeObserve = "observe"
	// ModeWait may delay a change for as long as -weaver-wait, and then lets
	// it go on. It never refuses.
	ModeWait = "wait"
	// ModeEnforce delays and refuses.
	ModeEnforce = "enforce"
)

// What -weaver-offline takes: what becomes of a change when the coordinator is
// lost during an apply.
const (
	OfflineDeny  = "deny"
	OfflineAllow = "allow"
)

// DefaultWait is how long a call waits behind other sessions before it is
// refused: well below the time limit of the usual CI job.
const DefaultWait = 10 * time.Minute

// A session's lease is at least MinLease, so that a pause of the machine does not
// end it, and at most MaxLease, so that a killed run does not hold up others for
// longer.
const (
	MinLease = 2 * time.Second
	MaxLease = time.Hour
)

// TokenVariable holds the token for a shared coordinator. It is no option: what
// stands on a command line everybody on the machine can read.
const TokenVariable = "TFWEAVER_TOKEN"

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
	// Mode is how far coordination goes; empty when it was not given, which
	// leaves it to the settings and the default, ModeEnforce.
	Mode string
	// Coordinator is the address of the coordinator; empty for the embedded
	// one.
	Coordinator string
	// CAFile is the certificate that vouches for the coordinator's, TokenFile
	// holds the token; both may be empty.
	CAFile, TokenFile string
	// TokenEnv is the variable that holds the token, TokenVariable by default.
	TokenEnv string
	// Local coordinates with this machine alone, also where more is expected.
	Local bool
	// Override is the decision that is passed, Reason says why.
	Override, Reason string
	// Offline is OfflineDeny or OfflineAllow.
	Offline string
	// Lease is how long the session lives without a sign of life; 0 for the
	// default.
	Lease time.Duration
	// Off runs Terraform alone, with no coordination.
	Off bool
	// ExitCodes makes a refusal inside a run exit 75 instead of 1.
	ExitCodes bool
	// Rules is a folder with more rule packs.
	Rules string
	// Version asks for tfweaver's own version.
	Version bool
	// From says of each option that is set what sets it: itself as it was
	// written, or the name of a variable or a file.
	From map[string]string
}

// Given says whether something sets an option, such as "wait".
func (w *Weaver) Given(option string) bool { return w.From[option] != "" }

// Note remembers what sets an option.
func (w *Weaver) Note(option, source string) {
	if w.From == nil {
		w.From = map[string]string{}
	}
	w.From[option] = source
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
	named := func(field func(*Weaver) *string, what string) func(*Weaver, string) error {
		return func(w *Weaver, v string) error {
			if strings.TrimSpace(v) == "" {
				return fmt.Errorf("it is empty; name %s, or leave it out", what)
			}
			*field(w) = v
			return nil
		}
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
	choice := func(field func(*Weaver) *string, choices ...string) func(*Weaver, string) error {
		return func(w *Weaver, v string) error {
			if !slices.Contains(choices, v) {
				return fmt.Errorf("%q is none of %s", v, strings.Join(choices, ", "))
			}
			*field(w) = v
			return nil
		}
	}
	return map[string]option{
		"intent":      {env: "TFWEAVER_INTENT", set: text(func(w *Weaver) *string { return &w.Intent })},
		"wait":        {env: "TFWEAVER_WAIT", set: setWait},
		"policy":      {env: "TFWEAVER_POLICY", set: choice(func(w *Weaver) *string { return &w.Policy }, PolicyQueue, PolicyReject)},
		"mode":        {env: "TFWEAVER_MODE", set: choice(func(w *Weaver) *string { return &w.Mode }, ModeOff, ModeObserve, ModeWait, ModeEnforce)},
		"coordinator": {env: "TFWEAVER_COORDINATOR", set: named(func(w *Weaver) *string { return &w.Coordinator }, "a coordinator, such as tcp://HOST:PORT")},
		"ca-file":     {env: "TFWEAVER_CA_FILE", set: named(func(w *Weaver) *string { return &w.CAFile }, "a file")},
		"token-file":  {env: "TFWEAVER_TOKEN_FILE", set: named(func(w *Weaver) *string { return &w.TokenFile }, "a file")},
		"local":       {env: "TFWEAVER_LOCAL", isBool: true, set: boolean(func(w *Weaver) *bool { return &w.Local })},
		"override":    {env: "TFWEAVER_OVERRIDE", set: named(func(w *Weaver) *string { return &w.Override }, "a decision, such as t12, or the address of a change")},
		"reason":      {env: "TFWEAVER_REASON", set: text(func(w *Weaver) *string { return &w.Reason })},
		"offline":     {env: "TFWEAVER_OFFLINE", set: choice(func(w *Weaver) *string { return &w.Offline }, OfflineDeny, OfflineAllow)},
		"lease":       {env: "TFWEAVER_LEASE", set: setLease},
		"rules":       {env: "TFWEAVER_RULES", set: named(func(w *Weaver) *string { return &w.Rules }, "a folder")},
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

func setLease(w *Weaver, v string) error {
	d, err := time.ParseDuration(v)
	if err != nil || d < MinLease || d > MaxLease {
		return fmt.Errorf("%q is not a duration from %s to %s, such as 30s", v, MinLease, MaxLease)
	}
	w.Lease = d
	return nil
}

// weaverFromEnvironment gives the options their values before the command
// line is read. An empty variable counts as not set.
func weaverFromEnvironment(env Environment) (w Weaver, mistaken error) {
	w = Weaver{Wait: DefaultWait, Policy: PolicyQueue, Offline: OfflineDeny, TokenEnv: TokenVariable}
	for name, o := range options() {
		v := ""
		if o.env != "" {
			v = env.Get(o.env)
		}
		if v == "" {
			continue
		}
		if err := o.set(&w, v); err != nil {
			mistaken = &UsageError{Name: o.env, Reason: err.Error()}
			continue
		}
		w.Note(name, o.env)
	}
	return w, mistaken
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
	w.Note(strings.TrimPrefix(name, prefix), "-"+name)
	return used, nil
}

// settle gives the options that depend on each other their final values: not
// waiting at all and refusing at once are the same thing, and so are no mode
// and no coordination. This machine alone, said on the command line, is stronger
// than a coordinator that the environment names.
func (w *Weaver) settle() {
	if w.Local && strings.HasPrefix(w.From["local"], "-") && w.From["coordinator"] != "" {
		w.Coordinator = ""
		delete(w.From, "coordinator")
	}
	if w.Wait == 0 {
		w.Policy = PolicyReject
	}
	if w.Mode == ModeOff {
		w.Off = true
	}
}

// contradiction is that of two places to coordinate in.
func (w *Weaver) contradiction() error {
	local, named := w.From["local"], w.From["coordinator"]
	if w.Local && w.Coordinator != "" && strings.HasPrefix(local, "-") && strings.HasPrefix(named, "-") {
		return &UsageError{Name: local, Reason: "this machine alone, or the coordinator of " + named + ": not both"}
	}
	return nil
}

// unreasoned is an override without its reason, or a reason for nothing.
func (w *Weaver) unreasoned() error {
	from := w.From["reason"]
	switch {
	case w.Override != "" && strings.TrimSpace(w.Reason) == "":
		return &UsageError{Name: w.From["override"], Reason: "say why with -weaver-reason=TEXT; it is recorded with your name"}
	case w.Override == "" && strings.HasPrefix(from, "-"):
		return &UsageError{Name: from, Reason: "name the decision that is passed with -weaver-override=ID"}
	default:
		return nil
	}
}
