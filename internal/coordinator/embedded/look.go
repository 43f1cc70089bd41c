// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	"github.com/tfweaver/tfweaver/internal/journal/bboltjournal"
)

// Place is where the coordinator of this user keeps its files.
type Place struct {
	// Dir is the state folder, Sockets the folder of the sockets. Either may not
	// be there yet.
	Dir, Sockets string
	// Journal is the file of the journal, Size its size in bytes; -1 when there is
	// none.
	Journal string
	Size    int64
	// Leader is who leads, as that process published it; nil when nobody did.
	Leader *server.Leader
	// Trouble is why no coordinator can work here, a StartError that says what to
	// do; nil when one can.
	Trouble error
}

// Look says where the coordinator of this user is. It makes nothing, and starts
// nothing.
func Look(o Options) (Place, error) {
	o, err := o.complete()
	if err != nil {
		return Place{}, err
	}
	p := Place{Dir: o.Dir, Sockets: o.runtime(), Journal: o.path(bboltjournal.FileName), Size: -1}
	info, err := os.Stat(p.Journal)
	switch {
	case err == nil:
		p.Size = info.Size()
	case !errors.Is(err, fs.ErrNotExist):
		p.Trouble = &StartError{
			Reason: fmt.Sprintf("the state folder %s cannot be read (%s): set %s to a folder of your own", o.Dir, systemReason(err), stateVariable), Err: err,
		}
		return p, nil
	}
	if l, ok, err := server.ReadLeader(o.Dir); err == nil && ok {
		p.Leader = &l
	}
	p.Trouble = o.foresee()
	return p, nil
}

// foresee is prepare without making anything.
func (o Options) foresee() error {
	if dir := o.runtime(); !o.fits(dir) {
		return o.prepare() // which makes nothing then
	}
	if err := o.onNetwork(); err != nil {
		return err
	}
	if err := foresee("the state folder", o.Dir, stateVariable); err != nil {
		return err
	}
	return foresee("the sockets' folder", o.runtime(), runtimeVariable)
}

func foresee(what, dir, variable string) error {
	at := server.Existing(dir)
	err := mayWrite(at)
	if _, absent := os.Stat(dir); err == nil && absent == nil {
		err = server.CheckFolder(dir)
	}
	if err == nil {
		return nil
	}
	remedy := fmt.Sprintf("set %s to a folder of your own", variable)
	var folder *server.FolderError
	if errors.As(err, &folder) && folder.Closable {
		remedy = fmt.Sprintf("run `chmod 700 %s`, or %s", dir, remedy)
	}
	return &StartError{Reason: fmt.Sprintf("%s %v: %s", what, err, remedy), Err: err}
}
