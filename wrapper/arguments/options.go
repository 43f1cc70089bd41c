// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arguments

import (
	"slices"
	"strconv"
	"strings"
)

// DefaultParallelism is how many resources the CLI changes at a time.
const DefaultParallelism = 10

// Flag is one of Terraform's options as it was written.
type Flag struct {
	Name, Value string
	// Raw is the option as it stood on the command line.
	Raw []string
	// Half says to which half of a two-step apply it goes.
	Half Half
}

// Options is what tfweaver must know of the options of a command that runs
// providers. The zero value of a field means that the option was not given,
// except where a default is named.
type Options struct {
	AutoApprove, JSON, NoColor, Destroy, RefreshOnly bool
	DetailedExitCode                                 bool
	// Input, Lock and Refresh are true by default.
	Input, Lock, Refresh bool
	LockTimeout          string
	// Parallelism is DefaultParallelism by default.
	Parallelism int
	// Out is the plan file to write, State the local state file.
	Out, State string
	Vars       []string
	VarFiles   []string
	Targets    []string
	Replaces   []string
	// Positional are the arguments after the options.
	Positional []string
	// Flags are all options in order.
	Flags []Flag
	// Unclear is true when an option is not known, has a value that cannot be
	// read, or does not go with another. Terraform judges such a command line
	// better than tfweaver.
	Unclear bool
}

// Options reads the command's options as the CLI does: those of
// TF_CLI_ARGS_command first, then those of TF_CLI_ARGS, then the command
// line's; a later one overrides.
func (i Invocation) Options(env Environment) Options {
	o := Options{Input: true, Lock: true, Refresh: true, Parallelism: DefaultParallelism}
	o.Destroy = i.Command == "destroy"
	if v := env.Get("TF_INPUT"); v != "" {
		if on, err := strconv.ParseBool(v); err == nil {
			o.Input = on
		}
	}
	o.read(i.effective(env, &o.Unclear))
	if i.Command == "apply" || i.Command == "destroy" {
		o.Unclear = o.Unclear || o.misused(i.Command) || slices.ContainsFunc(o.Flags, func(f Flag) bool { return foreign(f.Name) })
	}
	return o
}

// effective is the command's argument list with the environment's options.
func (i Invocation) effective(env Environment, unclear *bool) []string {
	var args []string
	for _, name := range []string{ArgsVariable(i.Command), "TF_CLI_ARGS"} {
		words, err := splitWords(env.Get(name))
		if err != nil {
			*unclear = true
		}
		args = append(args, words...)
	}
	return append(args, i.Args...)
}

// ArgsVariable is the environment variable that adds options to one command.
func ArgsVariable(command string) string {
	return "TF_CLI_ARGS_" + strings.ReplaceAll(command, "-", "_")
}

// read stops at the first argument that is no option, as Go's flag package
// and with it the CLI does.
func (o *Options) read(args []string) {
	for len(args) > 0 {
		name, value, hasValue, ok := splitFlag(args[0])
		if !ok {
			if args[0] == "--" {
				args = args[1:]
			}
			o.Positional = args
			return
		}
		k, isKnown := known(name)
		o.Unclear = o.Unclear || !isKnown
		used := 1
		if k.takesValue && !hasValue {
			if len(args) < 2 {
				o.Unclear = true
				return
			}
			value, used = args[1], 2
		}
		o.Flags = append(o.Flags, Flag{Name: name, Value: value, Raw: args[:used:used], Half: k.half})
		if k.takesValue {
			o.setValue(name, value)
		} else {
			o.setBool(name, value, hasValue)
		}
		args = args[used:]
	}
}

func (o *Options) setBool(name, value string, hasValue bool) {
	on := true
	if hasValue {
		var err error
		if on, err = strconv.ParseBool(value); err != nil {
			o.Unclear = true
			return
		}
	}
	fields := map[string]*bool{
		"auto-approve": &o.AutoApprove, "json": &o.JSON, "no-color": &o.NoColor,
		"destroy": &o.Destroy, "refresh-only": &o.RefreshOnly, "detailed-exitcode": &o.DetailedExitCode,
		"input": &o.Input, "lock": &o.Lock, "refresh": &o.Refresh,
	}
	if field, ok := fields[name]; ok {
		*field = on
	}
}

func (o *Options) setValue(name, value string) {
	switch name {
	case "parallelism":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			o.Unclear = true
			return
		}
		o.Parallelism = n
	case "out":
		o.Out = value
	case "state":
		o.State = value
	case "lock-timeout":
		o.LockTimeout = value
	case "var":
		o.Vars = append(o.Vars, value)
	case "var-file":
		o.VarFiles = append(o.VarFiles, value)
	case "target":
		o.Targets = append(o.Targets, value)
	case "replace":
		o.Replaces = append(o.Replaces, value)
	}
}

// PlanFile is the saved plan that an apply was given; empty when none.
func (o Options) PlanFile() string {
	if len(o.Positional) == 0 {
		return ""
	}
	return o.Positional[0]
}

// For returns the options that belong to one half of a two-step apply, the
// named ones left out.
func (o Options) For(half Half, without ...string) []string {
	var args []string
	for _, f := range o.Flags {
		if f.Half&half == 0 || slices.Contains(without, f.Name) {
			continue
		}
		args = append(args, f.Raw...)
	}
	return args
}
