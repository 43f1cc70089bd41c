// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/embedded"
	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	"github.com/tfweaver/tfweaver/internal/journal"
	"github.com/tfweaver/tfweaver/internal/journal/bboltjournal"
)

// otherVersion is a coordinator that speaks another protocol.
type otherVersion struct {
	weaverv1.UnimplementedCoordinatorServer
	protocol uint32
}

func (o otherVersion) Info(context.Context, *weaverv1.InfoRequest) (*weaverv1.InfoResponse, error) {
	return &weaverv1.InfoResponse{Protocol: o.protocol, Version: "0.0.1", Embedded: true}, nil
}

// TestOtherProtocol: a run does not use, or replace, a serving process of
// another version that speaks another protocol, older or newer. It is told
// which process that is, and that it ends by itself.
func TestOtherProtocol(t *testing.T) {
	t.Parallel()
	for _, protocol := range []uint32{client.Protocol - 1, client.Protocol + 1} {
		t.Run(fmt.Sprint(protocol), func(t *testing.T) {
			t.Parallel()
			base, err := os.MkdirTemp("", "weaver")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(base) })
			dir, path := filepath.Join(base, "state"), filepath.Join(base, "s")
			var config net.ListenConfig
			l, err := config.Listen(t.Context(), "unix", path)
			if err != nil {
				t.Fatal(err)
			}
			g := grpc.NewServer()
			weaverv1.RegisterCoordinatorServer(g, otherVersion{protocol: protocol})
			served := make(chan error, 1)
			go func() { served <- g.Serve(l) }()
			t.Cleanup(func() {
				g.Stop()
				<-served
			})
			leader, err := json.Marshal(server.Leader{Address: "unix://" + path, PID: 4711, Version: "0.0.1", Epoch: 3})
			if err := errors.Join(err, os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "current"), leader, 0o600)); err != nil {
				t.Fatal(err)
			}
			_, err = embedded.Connect(within(t), options(dir, "1m"))
			for _, want := range []string{fmt.Sprintf("speaks protocol %d, this program %d", protocol, client.Protocol), "0.0.1", "same version", "kill 4711", "ends by itself"} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("Connect: %v; want %q", err, want)
				}
			}
			wantPlain(t, err)
			if _, err := os.Stat(filepath.Join(dir, bboltjournal.FileName)); err == nil {
				t.Error("a journal was made")
			}
		})
	}
}

// TestRecordsNotUnderstood: an old program does not understand what is in the
// journal, though it knows the layout; or nobody does. It says so and leaves the
// journal as it is.
func TestRecordsNotUnderstood(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line  string
		words []string
	}{
		"newer field": {
			`{"format":1,"index":1,"now":1,"command":{"type":"expire","data":{"now":1,"field_of_the_future":true}},"events":[]}`,
			[]string{journal.ErrNewer.Error(), "install that version"},
		},
		"newer command": {
			`{"format":1,"index":1,"now":1,"command":{"type":"command_of_the_future","data":{}},"events":[]}`,
			[]string{journal.ErrNewer.Error(), "install that version"},
		},
		"no record": {`{"format":1,`, []string{journal.ErrCorrupt.Error(), "backup"}},
		"another's": {
			`{"format":1,"index":7,"now":1,"command":{"type":"expire","data":{"now":1}},"events":[]}`,
			[]string{journal.ErrCorrupt.Error(), "backup"},
		},
		"no consequence": {
			`{"format":1,"index":1,"now":1,"command":{"type":"expire","data":{"now":1}},"events":[{"type":"tx_started","data":{"tx":"nobody","at":1}}]}`,
			[]string{journal.ErrCorrupt.Error(), "backup"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := stateDir(t)
			j, err := bboltjournal.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			epoch, err := j.Lead(t.Context())
			if err == nil {
				_, err = j.Append(t.Context(), epoch, 0, [][]byte{[]byte(c.line)})
			}
			if err := errors.Join(err, j.Close()); err != nil {
				t.Fatal(err)
			}
			wantLeftAlone(t, dir, c.words...)
		})
	}
}

// wantLeftAlone: nobody can start a coordinator, people are told why and what
// to do, and the journal stays as it is to the last byte.
func wantLeftAlone(t *testing.T, dir string, words ...string) {
	t.Helper()
	path := filepath.Join(dir, bboltjournal.FileName)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]func(context.Context, embedded.Options) (*client.Client, error){
		"Connect": embedded.Connect, "Resume": embedded.Resume,
	} {
		_, err := ask(within(t), options(dir, "1m"))
		for _, want := range append(words, path) {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; want %q", name, err, want)
			}
		}
		if err != nil {
			wantPlain(t, err)
		}
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the journal was changed (%v)", err)
	}
}
