// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/wrapper/identity"
	"github.com/tfweaver/tfweaver/wrapper/scratch"
)

// places looks at the folders where runs keep their own files.
func (d *doctor) places() {
	files, sockets := scratch.Parents()
	for _, parent := range slices.Compact([]string{files, sockets}) {
		name := "plan files"
		if parent == sockets {
			name = "sockets"
		}
		if files == sockets {
			name = "temporary"
		}
		d.place(name, parent)
	}
	d.leftovers(scratch.Leftovers())
}

func (d *doctor) place(name, dir string) {
	facts := []string{"path", dir, "length", fmt.Sprint(len(dir))}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errNoFolder
	}
	if err == nil {
		err = mayWrite(dir)
	}
	if err != nil {
		d.fail(groupPlaces, name, sentence(dir+" cannot be written: "+reasonOf(err).Error()), "Set TMPDIR to a folder of your own.", facts...)
		return
	}
	if d.full(name, dir, "Free some space there, or set TMPDIR to a folder of your own with more of it.", facts...) {
		return
	}
	found := fmt.Sprintf("%s, writable, %d bytes long", dir, len(dir))
	if noExec(dir) {
		found += "; nothing can be executed there, which tfweaver does not need"
	}
	if d.app.Env.Get("TMPDIR") != "" && name == "sockets" {
		found += "; TMPDIR is too long for sockets"
	}
	d.fine(groupPlaces, name, found, facts...)
}

// full tells of a folder without room for what a run writes.
func (d *doctor) full(name, dir, remedy string, facts ...string) bool {
	free, known := d.free(dir)
	if !known || free >= scratch.Room {
		return false
	}
	group := groupPlaces
	if name == "journal" {
		group = groupCoord
	}
	d.fail(group, name, fmt.Sprintf("There is no room in %s: %s left.", dir, bytesText(int64(free))), remedy, append(facts, "free", fmt.Sprint(free))...)
	return true
}

func (d *doctor) leftovers(found []string) {
	if len(found) == 0 {
		d.fine(groupPlaces, "leftovers", "none of runs that were killed")
		return
	}
	shown := strings.Join(found[:min(len(found), 3)], ", ")
	if more := len(found) - 3; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	d.doubt(groupPlaces, "leftovers", fmt.Sprintf("Of runs that were killed: %s. A plan file in them holds every value in clear.", shown),
		"The next run removes them. At once: rm -r "+strings.Join(found[:min(len(found), 3)], " "), "count", fmt.Sprint(len(found)))
}

// identity says under which name others will see the runs.
func (d *doctor) identity() {
	who := identity.Resolve(d.app.Env, d.app.System, d.Dir)
	name := who.Actor
	if who.Claimed {
		name += " (claimed)"
	}
	facts := []string{"actor", who.Actor, "claimed", fmt.Sprint(who.Claimed), "host", who.Host}
	found := name + " on " + who.Host
	if purpose := who.Purpose(); purpose != "" {
		found += ", for " + purpose
	}
	if who.RunURL != "" {
		facts = append(facts, "run_url", who.RunURL)
		found += ", " + who.RunURL
	}
	d.fine(groupIdentity, "actor", found, facts...)
	switch {
	case who.Platform != "":
		d.fine(groupIdentity, "pipeline", who.Platform, "platform", who.Platform)
	case inCI(d.app.Env):
		d.doubt(groupIdentity, "pipeline", "CI is set, and tfweaver does not know by whom.",
			fmt.Sprintf("Set %s and %s, so that others know whom to ask.", identity.ActorVariable, identity.RunURLVariable))
	default:
		d.fine(groupIdentity, "pipeline", "none")
	}
}
