// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/terraform"
)

// addition is what follows the CLI's own help: everything of tfweaver's after
// the list of commands, its options after the help of a command that takes
// them, and otherwise nothing.
func addition(inv arguments.Invocation) string {
	switch {
	case inv.Version() || inv.Weaver.Off:
		return ""
	case inv.Command == "":
		return commandsHelp + optionsHelp + optionsElsewhere + settingsHelp
	case inv.Help() && inv.RunsProviders():
		return "\nThis is tfweaver in place of the CLI.\n" + optionsHelp + settingsHelp
	default:
		return ""
	}
}

// help lets the CLI print its help, and adds a section about tfweaver. It goes
// to standard error: what programs read of the CLI's help stays as it is.
func (a *App) help(ctx context.Context, inv arguments.Invocation, binary terraform.Binary, section string) int {
	p := terraform.Process{
		Path: binary.Path, Args: inv.Argv(), Env: terraform.Deeper(a.Env), Dir: a.Dir,
		Stdin: a.Stdin, Stdout: a.Stdout, Stderr: a.Stderr, Signals: a.Signals,
	}
	code, err := p.Run(ctx)
	if err != nil {
		return a.fail(inv, terraform.Unrunnable(binary.Path, err))
	}
	_, _ = io.WriteString(a.Stderr, section)
	return code
}

// hint names the command of tfweaver's own that was probably meant: the CLI, which
// says next that it has none of the name, knows only its own.
func (a *App) hint(inv arguments.Invocation) {
	if meant := inv.Misspelt(); meant != "" && !inv.Weaver.Off {
		_, _ = fmt.Fprintf(a.Stderr, "tfweaver has no command %q of its own. Did you mean \"tfweaver %s\"?\n\n", inv.Command, meant)
	}
}

const (
	commandsHelp = `
This is tfweaver in place of the CLI. Commands of its own:
  status        Sessions and what they are doing
  why ID        What a transaction waits for, or why it was refused
  locks         The held locks
  report        What was delayed or refused, or would have been
  resolve ID    Settle a call whose outcome was lost
  serve         Run the coordinator as a daemon
  doctor        What was found, and what to do
  help COMMAND  The help of any command
`
	optionsHelp = `
Options of its own, for commands that run providers:
  -weaver-intent=TEXT        What you do this for; shown to those who wait
  -weaver-wait=DURATION      How long to wait for others (10m); 0s fails at once
  -weaver-policy=POLICY      queue (wait for others) or reject
  -weaver-mode=MODE          enforce, wait (never refuse), observe (only note) or off
  -weaver-override=ID        Pass the decision of one refusal or wait, and record it
  -weaver-reason=TEXT        Why it is passed; needed with -weaver-override
  -weaver-offline=POLICY     Without the coordinator in mid-apply: deny or allow
  -weaver-lease=DURATION     How long the run lives unheard of (30s; 2s or more)
  -weaver-coordinator=ADDR   unix:///PATH or tcp://HOST:PORT of a "tfweaver serve"
  -weaver-ca-file=FILE       The certificate that vouches for a tcp:// coordinator
  -weaver-token-file=FILE    The token for it, if not in TFWEAVER_TOKEN
  -weaver-local              Coordinate with this machine only, also in CI
  -weaver-rules=FOLDER       More rule packs
  -weaver-exit-codes         Exit with 75 after a refusal
  -weaver-off                Run the CLI alone
`
	optionsElsewhere = `
  -weaver-version            Print tfweaver's own version
`
	settingsHelp = `
A repository's .tfweaver.hcl says what its runs have in common.
`
)

// printHelp prints the help of one of tfweaver's own commands in the way of
// the CLI's: options with one dash.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	var text bytes.Buffer
	out := ctx.Stdout
	ctx.Stdout = &text
	err := kong.DefaultHelpPrinter(options, ctx)
	ctx.Stdout = out
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, singleDashes(text.String()))
	return err
}

// flagColumn is an option that a description follows: one dash less must not
// move the description.
var flagColumn = regexp.MustCompile(`(?m)^( +(?:-[a-z], )?)--(\S+)(  )`)

var doubleDash = regexp.MustCompile(`(^|[\s("'\[|=,])--([a-z])`)

// singleDashes writes options as Terraform's are written, and says of the two
// fates of an object that one is to be chosen.
func singleDashes(text string) string {
	text = strings.ReplaceAll(text, "--exists --gone", "(--exists | --gone)")
	text = flagColumn.ReplaceAllString(text, "$1-$2 $3")
	return doubleDash.ReplaceAllString(text, "$1-$2")
}
