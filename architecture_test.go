// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package tfweaver

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/tfweaver/tfweaver/"

// pkg is what `go list -json` says of one package, as far as we need it.
type pkg struct {
	ImportPath string
	Name       string
	Standard   bool
	Imports    []string
	Doc        string
	GoFiles    []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Name,Imports,Doc,GoFiles", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

// rule bans imports for the packages below a folder. An import is ours when it
// stands below one of only; everything else of this module is banned.
type rule struct {
	below string
	only  []string
	why   string
}

// The arrows of the architecture. A package may always import what lies in its
// own folder.
var rules = []rule{
	{"internal/core/mode", []string{}, "modes are the bottom"},
	{"internal/core/cow", []string{}, "containers know nothing of what they hold"},
	{"internal/core/document", []string{}, "documents are read whatever is in them"},
	{"internal/core/graph", []string{"internal/core/mode", "internal/core/cow", "internal/core/document"}, "the graph knows no locks"},
	{"internal/core/lock", []string{"internal/core/cow", "internal/core/mode", "internal/core/graph"}, "the lock table knows no transactions"},
	{"internal/core/escrow", []string{"internal/core/cow"}, "capacity knows no nodes and no transactions"},
	{"internal/core/admission", []string{"internal/core/cow", "internal/core/document", "internal/core/mode", "internal/core/graph", "internal/core/lock", "internal/core/escrow"}, "admission knows no reports"},
	{"internal/core/view", []string{"internal/core"}, "views are computed from the core alone"},
	{"internal/core/conflict", []string{"internal/core"}, "the core knows no shell"},
	{"internal/core", []string{"internal/core"}, "the core knows no shell"},
	{"internal/journal", []string{"internal/core"}, "a journal does not know who writes it"},
	{"internal/ruleengine", []string{"internal/core"}, "rules do not know who asks"},
	{"internal/coordinator/client", []string{"api", "internal/core", "internal/coordinator"}, "the client is the products' only door"},
	{"internal/coordinator", []string{"api", "internal/core", "internal/journal", "internal/version"}, "the coordinator knows no product"},
	{"internal/simcloud", []string{"internal/version"}, "the simulated cloud knows nothing of the coordinator"},
	{"rules", []string{}, "packs are data"},
	{"api", []string{}, "the API is generated"},
	{"wrapper/intercept", []string{"wrapper/plugins"}, "the proxy knows no locks"},
	{"wrapper/plugins", []string{}, "launching providers knows nothing of what is asked of them"},
	{"wrapper/lowering", []string{"internal/core", "internal/ruleengine", "wrapper/intercept"}, "lowering talks to nobody"},
}

func TestImportDirections(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		path := strings.TrimPrefix(p.ImportPath, module)
		r, ok := ruleFor(path)
		if !ok {
			continue
		}
		for _, imp := range p.Imports {
			if !strings.HasPrefix(imp, module) {
				continue
			}
			if imp = strings.TrimPrefix(imp, module); !below(imp, append(r.only, r.below)) {
				t.Errorf("%s imports %s: %s", path, imp, r.why)
			}
		}
	}
}

// TestProductsReachTheCoordinatorThroughItsClient keeps one path for one
// machine and for a cluster: products share the types of answers, find or
// start a coordinator, and never run one, but for the command `serve`.
func TestProductsReachTheCoordinatorThroughItsClient(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		path := strings.TrimPrefix(p.ImportPath, module)
		if !below(path, []string{"wrapper", "provider-weaver", "run-task"}) {
			continue
		}
		banned := []string{"internal/journal", "internal/coordinator/server"}
		if path == "wrapper/command" {
			banned = banned[:1]
		}
		for _, imp := range p.Imports {
			if imp = strings.TrimPrefix(imp, module); below(imp, banned) {
				t.Errorf("%s imports %s: products reach a coordinator through its client", path, imp)
			}
		}
	}
}

// TestCoreIsPure: the protocol imports the standard library only, and none of
// the packages that would let it decide differently the second time.
func TestCoreIsPure(t *testing.T) {
	t.Parallel()
	banned := map[string]bool{"math/rand": true, "math/rand/v2": true, "crypto/rand": true, "sync": true, "sync/atomic": true, "context": true, "os": true, "net": true, "io/fs": true}
	testing_ := []string{"internal/core/explore", "internal/core/mutants"} // test-side programs
	for _, p := range packages(t) {
		path := strings.TrimPrefix(p.ImportPath, module)
		if !below(path, []string{"internal/core"}) || below(path, testing_) {
			continue
		}
		for _, imp := range p.Imports {
			switch {
			case strings.HasPrefix(imp, module+"internal/core"):
			case strings.Contains(strings.SplitN(imp, "/", 2)[0], "."):
				t.Errorf("%s imports %s: the core uses the standard library only", path, imp)
			case banned[imp]:
				t.Errorf("%s imports %s: time, chance and the world come in with commands", path, imp)
			}
		}
	}
}

// TestCoreReadsNoClock: times are formatted in the core, never taken.
func TestCoreReadsNoClock(t *testing.T) {
	t.Parallel()
	banned := map[string]bool{"Now": true, "Since": true, "Until": true, "After": true, "AfterFunc": true, "Sleep": true, "Tick": true, "NewTimer": true, "NewTicker": true}
	for _, dir := range []string{"mode", "graph", "lock", "escrow", "admission", "conflict", "view"} {
		files, err := filepath.Glob(filepath.Join("internal/core", dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files in %s: %v", dir, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && banned[sel.Sel.Name] {
						t.Errorf("%s uses time.%s: time comes in with commands", file, sel.Sel.Name)
					}
				}
				return true
			})
		}
	}
}

func TestEveryPackageHasADoc(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if p.Doc == "" && len(p.GoFiles) > 0 {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

// TestLicenceHeader also parses every file, so a broken generated one shows.
func TestLicenceHeader(t *testing.T) {
	t.Parallel()
	const want = "// Copyright (c) The tfweaver authors\n// SPDX-License-Identifier: MPL-2.0\n"
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != "." && (strings.HasPrefix(name, ".") || name == "build" || name == "bin" || name == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		head := src[:min(len(src), 400)]
		if !bytes.Contains(head, []byte(want)) {
			t.Errorf("%s lacks the licence header", path)
		}
		_, err = parser.ParseFile(token.NewFileSet(), path, src, parser.ImportsOnly)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func ruleFor(path string) (rule, bool) {
	best, found := rule{}, false
	for _, r := range rules {
		if below(path, []string{r.below}) && len(r.below) >= len(best.below) {
			best, found = r, true
		}
	}
	return best, found
}

func below(path string, folders []string) bool {
	for _, f := range folders {
		if path == f || strings.HasPrefix(path, f+"/") {
			return true
		}
	}
	return false
}
