// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/plugins"
	"github.com/tfweaver/tfweaver/wrapper/scratch"
	"github.com/tfweaver/tfweaver/wrapper/terraform"
)

func parse(t *testing.T, args ...string) arguments.Invocation {
	t.Helper()
	inv, err := arguments.Parse(args, nil)
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

func TestWhichCommandsAreLeftToTheCLI(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"": true, "init": true, "version": true, "fmt": true, "validate": true, "state rm a": true, "output": true,
		"force-unlock 1": true, "unheard-of": true, "apply -help": true, "apply -weaver-off": true,
		"apply": false, "destroy": false, "plan": false, "refresh": false, "import a b": false, "console": false, "test": false,
	} {
		if got := plainly(parse(t, strings.Fields(line)...)); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

func TestProblemsSayWhatToDo(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		err   error
		code  int
		texts []string
	}{
		"option":       {&arguments.UsageError{Name: "-weaver-x", Reason: "no such option"}, ExitSetup, []string{"-weaver-x", "-help"}},
		"no CLI":       {&terraform.NotFoundError{Kind: terraform.ErrNotFound, Remedy: "install it"}, terraform.ExitNotFound, []string{"install it"}},
		"no program":   {terraform.Unrunnable("/x", syscall.ENOEXEC), terraform.ExitNotRunnable, []string{"/x", "damaged", "TFWEAVER_TERRAFORM"}},
		"a loop":       {&terraform.NotFoundError{Kind: terraform.ErrLoop, Remedy: "name it"}, ExitSetup, []string{"calls tfweaver again"}},
		"coordinator":  {&connectError{Address: "unix:///s", Err: client.ErrUnreachable}, ExitSetup, []string{"unix:///s", "tfweaver serve", "Nothing was sent"}},
		"embedded":     {&connectError{Err: errors.New("disk full")}, ExitSetup, []string{"disk full", "-weaver-off", "Nothing was sent"}},
		"not there":    {&plugins.PackageError{Kind: plugins.ErrNoExecutable, Source: "h/n/t", Version: "1", Remedy: `run "terraform init"`}, ExitError, []string{"h/n/t 1", "terraform init"}},
		"tampered":     {&plugins.PackageError{Kind: plugins.ErrChecksum, Source: "h/n/t", Version: "1", Path: "/p", Remedy: "x"}, ExitSetup, []string{"h/n/t", "/p", "not started"}},
		"start":        {&plugins.LaunchError{Path: "/p", Err: errors.New("no handshake")}, ExitError, []string{"/p", "no handshake"}},
		"lock file":    {plugins.ErrLockFile, ExitError, []string{"git checkout .terraform.lock.hcl", "or remove it and run \"terraform init\""}},
		"no room":      {&scratch.PlaceError{Dir: "/t", Err: &fs.PathError{Op: "write", Path: "/t/x", Err: syscall.ENOSPC}}, ExitSetup, []string{"/t: no space left on device.", "TMPDIR", "Free some space", "Nothing was sent"}},
		"no place":     {&scratch.PlaceError{Dir: "/t", Err: syscall.EACCES}, ExitSetup, []string{"/t: permission denied.", "Set TMPDIR", "Nothing was sent"}},
		"torn plan":    {&planError{Err: errors.New("not a zip"), Place: &scratch.PlaceError{Dir: "/t", Err: syscall.ENOSPC}}, ExitError, []string{"could not be saved", "/t: no space left on device.", "TMPDIR"}},
		"odd plan":     {unreadable(t.TempDir(), errors.New("not a zip")), ExitError, []string{"Not a zip.", "Nothing was sent"}},
		"interrupted":  {fmt.Errorf("open: %w", errInterrupted), ExitError, []string{"Nothing was sent"}},
		"anything new": {errors.New("odd"), ExitSetup, []string{"Odd.", "Nothing was sent"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, code := explain(tt.err)
			if code != tt.code || p.Summary == "" || p.Warning {
				t.Errorf("%+v, exit code %d", p, code)
			}
			for _, text := range tt.texts {
				if !strings.Contains(p.Detail, text) {
					t.Errorf("the detail lacks %q: %s", text, p.Detail)
				}
			}
		})
	}
}

func TestOverrides(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rc")
	text := `
plugin_cache_dir = "/cache"
provider_installation {
  # dev_overrides { "commented/out" = "/no" }
  dev_overrides {
    "acme/cloud"              = "/src/acme \"x\""
    "example.com/acme/other"  = "/src/other"
  }
  direct {}
}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := devOverrides(arguments.Environment{"TF_CLI_CONFIG_FILE=" + file}, terraform.Terraform)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"registry.terraform.io/acme/cloud": `/src/acme "x"`, "example.com/acme/other": "/src/other"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("overrides (-want +got):\n%s", diff)
	}
	if got := fullAddress("a/b", terraform.OpenTofu); got != "registry.opentofu.org/a/b" {
		t.Errorf("address %s", got)
	}
	none, err := devOverrides(arguments.Environment{"TF_CLI_CONFIG_FILE=" + file + ".none"}, terraform.Terraform)
	if err != nil || len(none) != 0 {
		t.Errorf("without a file: %v, %v", none, err)
	}
}

func TestOverriddenProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"README", "terraform-provider-cloudier", "terraform-provider-cloud_v1.0.0"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	got, err := overridden("r/acme/cloud", dir)
	if err != nil || got != filepath.Join(dir, "terraform-provider-cloud_v1.0.0") {
		t.Errorf("found %s, %v", got, err)
	}
	if _, err := overridden("r/acme/none", dir); err == nil {
		t.Error("a program that is not there was found")
	}
}

func TestRepeatedLines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		`{"type":"version"}`: true, `{"type":"planned_change"}`: true, `{"type":"resource_drift"}`: true,
		`{"type":"apply_start"}`: false, `{"type":"diagnostic"}`: false, "no JSON": false,
	} {
		if got := repeated([]byte(line)); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		run  run
		want string
	}{
		"apply": {
			run{binary: terraform.Binary{Product: terraform.Terraform}, workdir: terraform.Workdir{Workspace: "default"}},
			"\nDo you want to perform these actions?\n  Terraform will perform the actions described above.\n  Only 'yes' will be accepted to approve.\n\n  Enter a value: ",
		},
		"destroy in a workspace, with OpenTofu": {
			run{binary: terraform.Binary{Product: terraform.OpenTofu}, workdir: terraform.Workdir{Workspace: "blue"}, opts: arguments.Options{Destroy: true}},
			"\nDo you really want to destroy all resources in workspace \"blue\"?\n  OpenTofu will destroy all your managed infrastructure, as shown above.\n  There is no undo. Only 'yes' will be accepted to confirm.\n\n  Enter a value: ",
		},
		"refresh-only": {
			run{binary: terraform.Binary{Product: terraform.Terraform}, workdir: terraform.Workdir{Workspace: "blue"}, opts: arguments.Options{RefreshOnly: true}},
			"\nWould you like to update the Terraform state for \"blue\" to reflect these detected changes?\n  Terraform will write these changes to the state without modifying any real infrastructure.\n  There is no undo. Only 'yes' will be accepted to confirm.\n\n  Enter a value: ",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.run.questionFor().text(false)); diff != "" {
				t.Errorf("question (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnAnswerIsOneLine(t *testing.T) {
	t.Parallel()
	in := strings.NewReader("yes\r\n yes \nno\nyes")
	for _, want := range []string{"yes", " yes", "no"} {
		got, err := readLine(in)
		if err != nil || got != want {
			t.Errorf("answer %q, %v; want %q", got, err, want)
		}
	}
	if _, err := readLine(in); !errors.Is(err, io.EOF) {
		t.Errorf("error %v where a line has no end", err)
	}
}

func TestDoubleDashes(t *testing.T) {
	t.Parallel()
	got := doubleDashes([]string{"resolve", "t1", "-reason", "a -b", "--gone", "-h", "--", "-x1"})
	want := []string{"resolve", "t1", "--reason", "a -b", "--gone", "-h", "--", "-x1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLoadRules(t *testing.T) {
	t.Parallel()
	if _, err := loadRules("", nil); err != nil {
		t.Fatalf("the packs that come with the program: %v", err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.hcl"), []byte("pack {"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := loadRules(dir, nil)
	problem, code := explain(err)
	if code != ExitSetup || problem.Summary != "Broken rule pack" || !strings.HasPrefix(problem.Detail, filepath.ToSlash(dir)+"/x.hcl:1,6") {
		t.Errorf("%+v, exit code %d", problem, code)
	}
	if _, err := loadRules(filepath.Join(dir, "none"), nil); err == nil {
		t.Error("a folder that is not there is accepted")
	}
}

// TestLostCoordinators are those that do not answer; an ended session is none.
func TestLostCoordinators(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{client.ErrSessionEnded, false},
		{fmt.Errorf("%w: %w", client.ErrSessionEnded, client.ErrLost), true},
		{errors.Join(nil, client.ErrUnreachable), true},
		{context.DeadlineExceeded, true},
	} {
		if got := lost(tt.err); got != tt.want {
			t.Errorf("lost(%v) = %v", tt.err, got)
		}
	}
}
