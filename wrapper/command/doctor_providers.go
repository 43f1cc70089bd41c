// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/module"
	"github.com/tfweaver/tfweaver/wrapper/plugins"
)

// installed looks at the providers as a run would find them, and starts none.
func (d *doctor) installed() {
	if d.workdir.Root == "" {
		return
	}
	elsewhere := d.replaced()
	lock, err := plugins.ReadLockFile(d.workdir.LockFile())
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(d.tree.Required)+len(d.tree.Types) == 0:
		if d.tree.Files > 0 {
			d.fine(groupProvider, "lock file", "none, and no provider is required")
		}
		return
	case errors.Is(err, fs.ErrNotExist):
		d.doubt(groupProvider, "lock file", "There is none: no provider is installed, and nothing can be coordinated.", "Run \""+d.command("init")+"\".")
		return
	case err != nil:
		d.fail(groupProvider, "lock file", sentence(err.Error()), "Restore it, as with \"git checkout "+plugins.LockFileName+"\", or remove it and run \""+d.command("init")+"\".")
		return
	}
	d.fine(groupProvider, "lock file", quantity(len(lock.Entries), "provider"), "path", lock.Path)
	for _, entry := range lock.Entries {
		if !slices.Contains(elsewhere, entry.Source) {
			d.provider(entry)
		}
	}
	d.unlocked(lock, elsewhere)
}

// provider looks at one package.
func (d *doctor) provider(entry plugins.Entry) {
	name := entry.Source[strings.LastIndex(entry.Source, "/")+1:]
	facts := []string{"source", entry.Source, "version", entry.Version}
	pkg, err := plugins.Locate(entry, d.workdir.DataDir, plugins.Current())
	if err == nil {
		facts = append(facts, "path", pkg.Executable)
		err = plugins.Verify(pkg, entry)
	}
	var broken *plugins.PackageError
	switch {
	case err == nil:
		d.fine(groupProvider, name, fmt.Sprintf("%s %s, installed and verified (h1)", entry.Source, entry.Version), facts...)
	case errors.Is(err, plugins.ErrNoHashes):
		d.doubt(groupProvider, name, fmt.Sprintf("%s %s is installed and not checked: the lock file has no checksum for it.", entry.Source, entry.Version),
			"Run \""+d.command("providers lock")+"\".", facts...)
	case errors.As(err, &broken):
		d.fail(groupProvider, name, sentence(fmt.Sprintf("%s %s: %v", entry.Source, entry.Version, broken.Kind)),
			sentence(strings.ReplaceAll(broken.Remedy, "\"terraform ", "\""+d.command(""))), facts...)
	default:
		d.fail(groupProvider, name, sentence(err.Error()), "Run \""+d.command("init")+"\".", facts...)
	}
}

// replaced are the providers that the lock file does not decide about: processes of
// the user's own, and folders of dev_overrides.
func (d *doctor) replaced() []string {
	processes, err := served(d.app.Env, d.binary.Product)
	if err != nil {
		d.fail(groupProvider, "reattach", sentence(err.Error()), "Correct "+intercept.ReattachEnv+", or unset it.")
	}
	theirs := addresses(processes)
	for _, p := range processes {
		d.doubt(groupProvider, "reattach", fmt.Sprintf("%s is a process of your own, process %d, protocol %d; the lock file is not looked at.", p.address, p.running.PID, p.running.Protocol),
			"When you are done: unset "+intercept.ReattachEnv, "source", p.address, "protocol", fmt.Sprint(p.running.Protocol))
	}
	overrides, err := devOverrides(d.app.Env, d.binary.Product)
	if err != nil {
		d.fail(groupProvider, "dev_overrides", sentence(err.Error()), "Make the file readable, or name another one in TF_CLI_CONFIG_FILE.")
	}
	for _, address := range slices.Sorted(maps.Keys(overrides)) {
		if slices.Contains(theirs, address) {
			continue
		}
		if _, err := overridden(address, overrides[address]); err != nil {
			d.fail(groupProvider, "dev_overrides", sentence(err.Error()), "Build it there, or take it out of "+configFile(d.app.Env, d.binary.Product)+".")
			continue
		}
		d.doubt(groupProvider, "dev_overrides", fmt.Sprintf("%s is run from %s, unchecked.", address, overrides[address]),
			"Take it out of "+configFile(d.app.Env, d.binary.Product)+" when you are done.")
	}
	return slices.Concat(theirs, slices.Collect(maps.Keys(overrides)))
}

// unlocked tells of providers that are required and not in the lock file.
func (d *doctor) unlocked(lock plugins.Lockfile, elsewhere []string) {
	var missing []string
	for _, source := range d.sources() {
		if _, ok := lock.Entry(source); !ok && source != module.Builtin && !slices.Contains(elsewhere, source) {
			missing = append(missing, source)
		}
	}
	if len(missing) > 0 {
		d.doubt(groupProvider, "required", "Not in the lock file: "+strings.Join(missing, ", ")+".", "Run \""+d.command("init")+"\".")
	}
}

// sources are all providers of the configuration, with their hosts.
func (d *doctor) sources() []string {
	var list []string
	for _, source := range d.tree.Required {
		list = append(list, fullAddress(source, d.binary.Product))
	}
	for _, t := range d.tree.Types {
		list = append(list, fullAddress(t.Source, d.binary.Product))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// rules loads the packs, and says which types of the configuration they know.
func (d *doctor) rules() {
	engine, err := loadRules(d.inv.Weaver.Rules, d.app.Env)
	var broken *packError
	switch {
	case errors.As(err, &broken):
		d.brokenPacks(broken)
		return
	case err != nil:
		d.fail(groupRules, "packs", sentence(err.Error()), "Correct "+orElse(d.inv.Weaver.From["rules"], "TFWEAVER_RULES")+", or leave it out.")
		return
	}
	for _, p := range engine.Packs() {
		d.fine(groupRules, p.Name, strings.TrimSpace(fmt.Sprintf("pack %s for %s, %s", p.Version, p.Provider, quantity(len(p.Types), "type"))),
			"version", p.Version, "provider", p.Provider)
	}
	if d.inv.Weaver.Rules != "" {
		d.fine(groupRules, "your packs", fmt.Sprintf("from %s (%s)", d.inv.Weaver.Rules, d.inv.Weaver.From["rules"]), "path", d.inv.Weaver.Rules)
	}
	d.types(engine)
}

// brokenPacks names each mistake with its line.
func (d *doctor) brokenPacks(broken *packError) {
	for _, diag := range broken.diags {
		if diag.Severity != hcl.DiagError {
			continue
		}
		at := ""
		if diag.Subject != nil {
			at = fmt.Sprintf("%s:%d: ", diag.Subject.Filename, diag.Subject.Start.Line)
		}
		d.fail(groupRules, "packs", sentence(at+diag.Summary+": "+diag.Detail), "Correct the pack, or take it out of "+orElse(d.inv.Weaver.From["rules"], "TFWEAVER_RULES")+".")
	}
}

// types says which types of the configuration have rules.
func (d *doctor) types(engine *ruleengine.Engine) {
	var with, without []string
	for _, t := range d.tree.Types {
		source := fullAddress(t.Source, d.binary.Product)
		switch {
		case source == module.Builtin || ruleengine.Logical(source):
		case engine.Covers(source, t.Name):
			with = append(with, t.Name)
		default:
			without = append(without, t.Name)
		}
	}
	if len(with) > 0 {
		d.fine(groupRules, "types", quantity(len(with), "type")+" of this configuration with rules: "+strings.Join(with, ", "))
	}
	if len(without) > 0 {
		d.doubt(groupRules, "types", "Without rules, and so coordinated by their own object or name only: "+strings.Join(without, ", ")+".",
			"This is safe for one object at a time. Write a pack for them and name its folder with -weaver-rules=FOLDER, where more is shared.")
	}
}
