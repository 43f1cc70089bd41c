// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package bboltjournal

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
)

// TestMadeOnce: of many that want to make the journal, one does, and the others
// lead the same one after it.
func TestMadeOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secrets := make([]string, 8)
	var all sync.WaitGroup
	for i := range secrets {
		all.Go(func() {
			j := open(t, dir)
			defer j.Close()
			epoch, err := j.Lead(t.Context())
			if err != nil {
				t.Errorf("Lead: %v", err)
				return
			}
			last, err := j.Last(t.Context())
			if err == nil {
				_, err = j.Append(t.Context(), epoch, last, [][]byte{[]byte("here")})
			}
			secret, secretErr := j.Secret(t.Context())
			if err := errors.Join(err, secretErr); err != nil {
				t.Error(err)
			}
			secrets[i] = string(secret)
		})
	}
	all.Wait()
	j := open(t, dir)
	defer j.Close()
	epoch, err := j.Lead(t.Context())
	if err != nil || int(epoch) != len(secrets)+1 {
		t.Errorf("epoch %d, %v; want %d", epoch, err, len(secrets)+1)
	}
	if last, err := j.Last(t.Context()); err != nil || int(last) != len(secrets) {
		t.Errorf("%d records, %v; want %d", last, err, len(secrets))
	}
	for _, secret := range secrets {
		if secret != secrets[0] {
			t.Error("there was more than one journal")
		}
	}
}

// TestLeftoversAreSwept: what a crash left of a journal that was being made is
// never taken for one.
func TestLeftoversAreSwept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, FileName+temporaryMark+"1"), nil)
	write(t, filepath.Join(dir, FileName+temporaryMark+"2"), []byte("half of a journal"))
	write(t, filepath.Join(dir, FileName+".backup"), []byte("not ours"))
	w := prepared(t, dir, io.Discard)
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 2 {
		t.Errorf("in the folder are %q, %v; want the journal and the backup", left, err)
	}
	if err := w.append(t.Context(), 1); err != nil {
		t.Error(err)
	}
}

// TestNewerRecordIsLeftAlone: an old program finds out only while it reads the
// records that it does not understand them. The file has not changed by then,
// and the error says what to do.
func TestNewerRecordIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"format":  `{"format":99,"index":1,"now":1,"command":{"type":"expire","data":{}},"events":[]}`,
		"command": `{"format":1,"index":1,"now":1,"command":{"type":"from_the_future","data":{}},"events":[]}`,
		"field":   `{"format":1,"index":1,"now":1,"command":{"type":"expire","data":{"now":1,"from_the_future":1}},"events":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			j := open(t, dir)
			epoch, err := j.Lead(t.Context())
			if err == nil {
				_, err = j.Append(t.Context(), epoch, 0, [][]byte{[]byte(line)})
			}
			if err := errors.Join(err, j.Close()); err != nil {
				t.Fatal(err)
			}
			before := fingerprint(t, j.Path())
			old := open(t, dir)
			_, err = newWriter(t.Context(), old, io.Discard)
			if !errors.Is(err, admission.ErrNewer) {
				t.Fatalf("replay: %v; want newer", err)
			}
			explained := old.Explain(errors.Join(journal.ErrNewer, err))
			var newer *NewerError
			if !errors.As(explained, &newer) || !strings.Contains(explained.Error(), j.Path()) || !strings.Contains(explained.Error(), "install that version") {
				t.Errorf("Explain: %v", explained)
			}
			old.Close()
			if after := fingerprint(t, j.Path()); after != before {
				t.Error("the journal was changed")
			}
		})
	}
}
