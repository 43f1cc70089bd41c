// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/embedded"
	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/settings"
)

// coordination says how far it goes, and what says so.
func (d *doctor) coordination(err error) {
	d.settings(err)
	w := d.inv.Weaver
	mode, from := w.Mode, w.From["mode"]
	switch {
	case w.Off && mode == "":
		mode, from = arguments.ModeOff, d.offBy()
	case mode == "" && d.shared.Mode != "":
		mode, from = d.shared.Mode, d.settingsLine("mode")
	case mode == "":
		mode, from = arguments.ModeEnforce, "the default"
	}
	found := fmt.Sprintf("%s (%s)", mode, from)
	if w.Mode == "" && !w.Off {
		for _, r := range d.shared.Realms {
			found += fmt.Sprintf("; %s in %s", r.Mode, r.Pattern)
		}
	}
	facts := []string{"mode", mode, "from", from}
	switch mode {
	case arguments.ModeEnforce:
		d.fine(groupCoord, "mode", found, facts...)
	case arguments.ModeOff:
		d.doubt(groupCoord, "mode", found+": nothing is coordinated.", "Use -weaver-mode=enforce to coordinate.", facts...)
	default:
		d.doubt(groupCoord, "mode", found+": no change is refused.", "Use -weaver-mode=enforce to have conflicts refused.", facts...)
	}
	d.fine(groupCoord, "waiting", fmt.Sprintf("up to %s for others (%s), policy %s", roundly(w.Wait), orElse(w.From["wait"], "the default"), w.Policy), "wait", w.Wait.String(), "policy", w.Policy)
}

// settings tells of the settings file.
func (d *doctor) settings(err error) {
	switch {
	case err != nil:
		problem := explainSettings(&settingsError{err})
		var wrapped *settingsError
		if errors.As(err, &wrapped) {
			problem = explainSettings(wrapped)
		}
		found, remedy, _ := strings.Cut(problem.Detail, "\n\n")
		d.fail(groupCoord, "settings", found, orElse(remedy, "Make "+settings.FileName+" readable."))
	case d.shared.Path == "":
		d.fine(groupCoord, "settings", "no "+settings.FileName+" here or above")
	default:
		d.fine(groupCoord, "settings", d.shared.Path, "path", d.shared.Path)
	}
}

// settingsLine names the line of the settings file that sets something, such as
// "mode", or "coordinator address".
func (d *doctor) settingsLine(names ...string) string {
	text, err := os.ReadFile(d.shared.Path)
	if err != nil {
		return d.shared.Path
	}
	file, _ := hclsyntax.ParseConfig(text, d.shared.Path, hcl.InitialPos)
	if file == nil {
		return d.shared.Path
	}
	body, ok := file.Body.(*hclsyntax.Body)
	for ok && len(names) > 1 {
		body, names = blockOf(body, names[0]), names[1:]
		ok = body != nil
	}
	if !ok || body.Attributes[names[0]] == nil {
		return d.shared.Path
	}
	return fmt.Sprintf("%s:%d", d.shared.Path, body.Attributes[names[0]].NameRange.Start.Line)
}

func blockOf(body *hclsyntax.Body, name string) *hclsyntax.Body {
	for _, block := range body.Blocks {
		if block.Type == name {
			return block.Body
		}
	}
	return nil
}

// coordinator looks for the coordinator that a run would use.
func (d *doctor) coordinator(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, consultation)
	defer cancel()
	if d.inv.Weaver.Coordinator == "" {
		d.embedded(ctx)
		return
	}
	d.named(ctx)
}

// embedded looks at the coordinator of this user and machine, which a run starts
// when it needs it.
func (d *doctor) embedded(ctx context.Context) {
	if inCI(d.app.Env) && !d.inv.Weaver.Local {
		d.fail(groupCoord, "coordinator", "CI is set, and no coordinator is named that the runs on other machines share.",
			"Name it in "+settings.FileName+", with -weaver-coordinator or TFWEAVER_COORDINATOR; -weaver-local where all runs are on this machine.")
		return
	}
	place, err := embedded.Look(d.app.embedded())
	if err != nil {
		d.fail(groupCoord, "coordinator", sentence(err.Error()), "Set XDG_STATE_HOME to a folder of your own.")
		return
	}
	d.state(place)
	switch {
	case place.Trouble != nil:
	case place.Leader == nil:
		d.fine(groupCoord, "coordinator", "of this user and machine; not running: a run starts it", "embedded", "true")
	default:
		d.running(ctx, place)
	}
}

// running asks the coordinator of this machine. One that is dead is no trouble: the
// next run starts another.
func (d *doctor) running(ctx context.Context, place embedded.Place) {
	conn, err := client.Dial(ctx, place.Leader.Address)
	switch {
	case errors.Is(err, client.ErrProtocol):
		d.fail(groupCoord, "coordinator", sentence(err.Error()), fmt.Sprintf("Wait until it ends by itself, or end process %d, which is of version %s.", place.Leader.PID, place.Leader.Version))
	case err != nil:
		d.fine(groupCoord, "coordinator", fmt.Sprintf("of this user and machine; process %d, which led it, does not answer: a run starts another", place.Leader.PID), "embedded", "true")
	default:
		defer conn.Close()
		d.answers(ctx, conn, "of this user and machine, "+place.Leader.Address, "embedded", "true", "address", place.Leader.Address)
	}
}

// named looks for the coordinator that somebody named.
func (d *doctor) named(ctx context.Context) {
	w := d.inv.Weaver
	from := orElse(w.From["coordinator"], "the settings")
	if from == d.shared.Path {
		from = d.settingsLine("coordinator", "address")
	}
	found := fmt.Sprintf("shared, %s (%s)", w.Coordinator, from)
	if onNetwork(w.Coordinator) && !d.token() {
		return
	}
	conn, err := d.app.reach(ctx, w)
	if err != nil {
		problem, _ := explainTo(d.inv, &connectError{Address: w.Coordinator, Err: err, Asking: true})
		says, remedy, _ := strings.Cut(problem.Detail, "\n\n")
		d.fail(groupCoord, "coordinator", found+": "+says, orElse(remedy, "Correct "+from+"."), "embedded", "false", "address", w.Coordinator)
		return
	}
	defer conn.Close()
	if onNetwork(w.Coordinator) {
		d.fine(groupCoord, "TLS", "its certificate is trusted: "+orElse(d.app.path(w.CAFile), "by the certificates of the system"))
	}
	d.answers(ctx, conn, found, "embedded", "false", "address", w.Coordinator)
}

// token says where the token is, and nothing of it.
func (d *doctor) token() bool {
	_, err := d.app.asked(d.inv.Weaver)
	var lacking *tokenError
	if errors.As(err, &lacking) {
		problem := explainToken(lacking, "")
		says, remedy, _ := strings.Cut(problem.Detail, "\n\n")
		d.fail(groupCoord, "token", says, remedy)
		return false
	}
	where := arguments.TokenVariable
	switch w := d.inv.Weaver; {
	case w.TokenFile != "":
		where = d.app.path(w.TokenFile)
	case d.app.Env.Get(arguments.TokenVariable) == "" && w.TokenEnv != "":
		where = w.TokenEnv
	}
	d.fine(groupCoord, "token", "present, in "+where)
	return true
}

// answers asks a coordinator who it is.
func (d *doctor) answers(ctx context.Context, conn *client.Client, found string, facts ...string) {
	info, err := conn.Info(ctx)
	if err != nil {
		d.fail(groupCoord, "coordinator", sentence(found+": "+err.Error()), "Look at its log, and start it again.", facts...)
		return
	}
	facts = append(facts, "version", info.GetVersion(), "protocol", fmt.Sprint(info.GetProtocol()), "host", info.GetHost())
	found = fmt.Sprintf("%s; version %s, protocol %d, on %s, answers", found, info.GetVersion(), info.GetProtocol(), info.GetHost())
	if info.GetVersion() != d.Version {
		found += "; it is of another version than this program, and of the same protocol"
	}
	d.fine(groupCoord, "coordinator", found, facts...)
}

// state tells of the folder where decisions are kept.
func (d *doctor) state(p embedded.Place) {
	facts := []string{"path", p.Dir}
	if p.Trouble != nil {
		found, remedy := remedied(p.Trouble)
		d.fail(groupCoord, "journal", found, remedy, facts...)
		return
	}
	if d.full("journal", server.Existing(p.Dir), "Free some space there, or set XDG_STATE_HOME to a folder of your own with more of it.", facts...) {
		return
	}
	size := "empty"
	if p.Size >= 0 {
		size = bytesText(p.Size)
		facts = append(facts, "bytes", fmt.Sprint(p.Size))
	}
	d.fine(groupCoord, "journal", fmt.Sprintf("%s, %s, writable, on a disk of this machine", p.Journal, size), facts...)
}

// remedied takes an error about a folder apart: what it says behind its last colon is
// what to do.
func remedied(err error) (found, remedy string) {
	text := err.Error()
	at := strings.LastIndex(text, ": ")
	if at < 0 {
		return sentence(text), "See to the folder."
	}
	return sentence(text[:at]), sentence(text[at+2:])
}

// roundly is a duration without the parts that are nothing.
func roundly(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func bytesText(n int64) string {
	const kilo, mega = 1 << 10, 1 << 20
	switch {
	case n >= mega:
		return fmt.Sprintf("%.1f MB", float64(n)/mega)
	case n >= kilo:
		return fmt.Sprintf("%d kB", n/kilo)
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}
