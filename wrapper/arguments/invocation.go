// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arguments

import (
	"slices"
	"strings"
)

// Invocation is one command line, taken apart. Global, Command and Args put
// together again are the command line without tfweaver's own options.
type Invocation struct {
	Weaver Weaver
	// Global holds Terraform's options before the command.
	Global []string
	// Command is the command, empty when there is none.
	Command string
	// Args is everything after the command.
	Args []string
	// Own is true when Command is one of tfweaver's own.
	Own bool
}

// own are the commands that Terraform does not have.
func own(command string) bool { return slices.Contains(ownNames[:], command) }

// Parse takes the arguments after the program's name apart. Errors are
// *UsageError.
func Parse(args []string, env Environment) (Invocation, error) {
	weaver, mistaken := weaverFromEnvironment(env)
	inv := Invocation{Weaver: weaver}
	for len(args) > 0 {
		if args[0] == "--" {
			inv.Args = append(inv.Args, args...)
			break
		}
		used, err := inv.Weaver.take(inv.reason(args))
		if err != nil {
			return Invocation{}, err
		}
		if used == 0 {
			used = inv.keep(args)
		}
		args = args[used:]
	}
	if err := inv.judge(mistaken); err != nil {
		return Invocation{}, err
	}
	inv.Weaver.settle()
	inv.explain()
	inv.Own = own(inv.Command)
	return inv, nil
}

// judge finds mistakes in the environment, and options that contradict each other.
// Whoever asks for no coordination is not stopped by what a variable says of it:
// neither a command that is left to the CLI, nor one for help. Options about one
// decision mean nothing to tfweaver's own commands.
func (i *Invocation) judge(mistaken error) error {
	if i.heedless() {
		return nil
	}
	if mistaken != nil {
		return mistaken
	}
	if err := i.Weaver.contradiction(); err != nil || !i.RunsProviders() {
		return err
	}
	return i.Weaver.unreasoned()
}

// heedless says whether nothing of tfweaver's takes part in the command.
func (i *Invocation) heedless() bool {
	return i.Help() || i.Weaver.Version || i.Command == "help" || !i.RunsProviders() && !own(i.Command)
}

// reason lets the option of the reason stand without tfweaver's prefix beside
// -weaver-override: Terraform has none of that name.
func (i *Invocation) reason(args []string) []string {
	name, _, _, ok := splitFlag(args[0])
	if !ok || name != "reason" || own(i.Command) {
		return args
	}
	overrides := func(arg string) bool { name, _, _, ok := splitFlag(arg); return ok && name == prefix+"override" }
	if i.Weaver.Override == "" && !slices.ContainsFunc(args, overrides) {
		return args
	}
	_, value, _ := strings.Cut(args[0], name)
	return append([]string{"-" + prefix + name + value}, args[1:]...)
}

// explain makes "help COMMAND" what the CLI understands: it has no such
// command, only the option.
func (i *Invocation) explain() {
	if i.Command != "help" {
		return
	}
	i.Command = ""
	if len(i.Args) > 0 {
		i.Command, i.Args = i.Args[0], append(slices.Clone(i.Args[1:]), "-help")
		return
	}
	i.Global = append(i.Global, "-help")
}

// keep files Terraform's next argument and returns how many belong together:
// the value of an option is never looked at as an option of its own.
func (i *Invocation) keep(args []string) int {
	if i.Command == "" {
		if strings.HasPrefix(args[0], "-") {
			i.Global = append(i.Global, args[0])
		} else {
			i.Command = args[0]
		}
		return 1
	}
	used := min(width(args[0]), len(args))
	i.Args = append(i.Args, args[:used]...)
	return used
}

// Argv is Terraform's command line again.
func (i Invocation) Argv() []string {
	argv := append([]string{}, i.Global...)
	if i.Command != "" {
		argv = append(argv, i.Command)
	}
	return append(argv, i.Args...)
}

// Chdir is the folder that -chdir names; empty when it is not given.
func (i Invocation) Chdir() string {
	for _, arg := range i.Global {
		if name, value, has, ok := splitFlag(arg); ok && name == "chdir" && has {
			return value
		}
	}
	return ""
}

// Help says whether the command line asks for help or the version, which
// Terraform answers without doing anything.
func (i Invocation) Help() bool {
	return i.Version() || i.has("h", "help")
}

// RunsProviders says whether the command reads or changes the cloud, so that
// it is coordinated. "init" above all must not see any proxies: it would
// silently not install their providers.
func (i Invocation) RunsProviders() bool {
	switch i.Command {
	case "apply", "destroy", "plan", "refresh", "import", "console", "test":
		return true
	default:
		return false
	}
}

// Version says whether the command line asks for the version by an option.
func (i Invocation) Version() bool { return i.has("v", "version") }

func (i Invocation) has(names ...string) bool {
	for _, arg := range slices.Concat(i.Global, i.Args) {
		if name, _, _, ok := splitFlag(arg); ok && slices.Contains(names, name) {
			return true
		}
	}
	return false
}
