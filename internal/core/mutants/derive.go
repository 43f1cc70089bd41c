// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
)

// Derive makes faults out of a source file by small changes that usually still
// compile: it negates conditions, leaves out statements, operands and fields,
// moves bounds by one, exchanges operators and cases, and ends functions and
// loops before they begin. Of each function it takes at most so many, spread
// over the changes there are; the choice depends on the code alone. File is the
// path inside the repository.
func Derive(file string, src []byte, most int) ([]Patch, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("derive faults: %w", err)
	}
	var list []Patch
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		s := surgeon{src: src, at: func(p token.Pos) int { return fset.Position(p).Offset }}
		s.operate(f)
		for i, c := range choose(s.cuts, most) {
			line := fset.Position(f.Pos()).Line + bytes.Count(src[s.at(f.Pos()):c.from], []byte("\n"))
			p := Patch{
				Name: fmt.Sprintf("%s_%s_%d_%d", strings.NewReplacer("internal/core/", "", "/", "_", ".go", "").Replace(file), f.Name.Name, line, i),
				What: c.what,
			}
			p.Text = c.diff(file, src, p.What)
			list = append(list, p)
		}
	}
	return list, nil
}

// choose takes some of the cuts, at places as different as possible.
func choose(cuts []cut, most int) []cut {
	if most <= 0 || len(cuts) <= most {
		return cuts
	}
	rank := func(c cut) uint64 {
		h := fnv.New64a()
		fmt.Fprint(h, c.from, c.to, c.put)
		return h.Sum64()
	}
	kept := slices.Clone(cuts)
	slices.SortFunc(kept, func(a, b cut) int {
		if rank(a) < rank(b) {
			return -1
		}
		return 1
	})
	kept = kept[:most]
	slices.SortFunc(kept, func(a, b cut) int { return a.from - b.from })
	return kept
}

// cut replaces bytes of a source file.
type cut struct {
	from, to int
	put      string
	what     string
}

// diff is the cut as a patch of whole lines.
func (c cut) diff(file string, src []byte, what string) []byte {
	const context = 3
	first := bytes.LastIndexByte(src[:c.from], '\n') + 1
	last := len(src)
	if i := bytes.IndexByte(src[c.to:], '\n'); i >= 0 {
		last = c.to + i + 1
	}
	before, after := strings.SplitAfter(string(src[:first]), "\n"), strings.SplitAfter(string(src[last:]), "\n")
	before, after = before[:len(before)-1], after[:min(context, len(after)-1)]
	skipped := max(0, len(before)-context)
	before = before[skipped:]
	old, changed := string(src[first:last]), string(src[first:c.from])+c.put+string(src[c.to:last])
	var b bytes.Buffer
	fmt.Fprintf(&b, "Mutant: %s\n\n--- a/%s\n+++ b/%s\n", what, file, file)
	around := len(before) + len(after)
	fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", skipped+1, around+strings.Count(old, "\n"), skipped+1, around+strings.Count(changed, "\n"))
	for _, part := range []struct{ sign, text string }{
		{" ", strings.Join(before, "")}, {"-", old}, {"+", changed}, {" ", strings.Join(after, "")},
	} {
		for l := range strings.Lines(part.text) {
			b.WriteString(part.sign + l)
		}
	}
	return b.Bytes()
}

// surgeon collects the cuts of one function.
type surgeon struct {
	src  []byte
	at   func(token.Pos) int
	cuts []cut
}

func (s *surgeon) text(n ast.Node) string { return string(s.src[s.at(n.Pos()):s.at(n.End())]) }

func (s *surgeon) cut(from, to token.Pos, put, what string) {
	s.cuts = append(s.cuts, cut{s.at(from), s.at(to), put, what})
}

func (s *surgeon) replace(n ast.Node, put, what string) {
	s.cut(n.Pos(), n.End(), put, what+": "+strings.Join(strings.Fields(s.text(n)), " "))
}

func (s *surgeon) operate(f *ast.FuncDecl) {
	s.returnEarly(f)
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			s.condition(n.Cond)
		case *ast.ForStmt:
			s.cut(n.Body.Lbrace, n.Body.Lbrace+1, "{\nbreak\n", "a loop does nothing")
		case *ast.RangeStmt:
			s.cut(n.Body.Lbrace, n.Body.Lbrace+1, "{\nbreak\n", "a loop does nothing")
		case *ast.BinaryExpr:
			s.binary(n)
		case *ast.UnaryExpr:
			if n.Op == token.NOT {
				s.replace(n, s.text(n.X), "not negated")
			}
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt:
			s.replace(n, "", "left out")
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				s.replace(n, "", "left out")
			}
		case *ast.BasicLit:
			if v, err := strconv.Atoi(n.Value); n.Kind == token.INT && err == nil {
				s.replace(n, strconv.Itoa(v+1), "one more")
			}
		case *ast.Ident:
			if other := map[string]string{"true": "false", "false": "true"}[n.Name]; other != "" {
				s.replace(n, other, "the contrary of")
			}
		case *ast.SwitchStmt:
			s.cases(n.Body)
		case *ast.TypeSwitchStmt:
			s.cases(n.Body)
		case *ast.CompositeLit:
			s.fields(n)
		case *ast.BranchStmt:
			if n.Tok == token.CONTINUE && n.Label == nil {
				s.replace(n, "break", "the last round")
			}
		}
		return true
	})
}

func (s *surgeon) condition(c ast.Expr) {
	s.replace(c, "!("+s.text(c)+")", "negated")
	s.replace(c, "false && ("+s.text(c)+")", "never")
}

// returnEarly gives zero values, or the error that was passed in no more.
func (s *surgeon) returnEarly(f *ast.FuncDecl) {
	var zeros []string
	if f.Type.Results != nil {
		for _, r := range f.Type.Results.List {
			for range max(1, len(r.Names)) {
				zeros = append(zeros, "*new("+s.text(r.Type)+")")
			}
		}
	}
	put := "{\nif true {\nreturn " + strings.Join(zeros, ", ") + "\n}\n"
	s.cut(f.Body.Lbrace, f.Body.Lbrace+1, put, f.Name.Name+" does nothing")
}

var exchanged = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD,
}

func (s *surgeon) binary(n *ast.BinaryExpr) {
	other, ok := exchanged[n.Op]
	if !ok {
		return
	}
	s.cut(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other.String(), other.String()+" in: "+s.text(n))
	if n.Op == token.LAND || n.Op == token.LOR {
		s.replace(n, "("+s.text(n.X)+")", "only the first of")
		s.replace(n, "("+s.text(n.Y)+")", "only the second of")
	}
}

// cases lets the arms of a switch do nothing, or what their neighbour should.
func (s *surgeon) cases(b *ast.BlockStmt) {
	var before *ast.CaseClause
	for _, st := range b.List {
		c, ok := st.(*ast.CaseClause)
		if !ok || c.List == nil {
			before = nil
			continue
		}
		if before != nil {
			a, z := before.List[0], c.List[len(c.List)-1]
			first := string(s.src[s.at(a.Pos()):s.at(before.List[len(before.List)-1].End())])
			second := string(s.src[s.at(c.List[0].Pos()):s.at(z.End())])
			between := string(s.src[s.at(before.List[len(before.List)-1].End()):s.at(c.List[0].Pos())])
			s.cut(a.Pos(), z.End(), second+between+first, "cases exchanged: "+first+", "+second)
		}
		if len(c.Body) > 0 {
			s.cut(c.Colon, c.Colon+1, ":\nbreak\n", "a case does nothing: "+s.text(c.List[0]))
		}
		before = c
	}
}

func (s *surgeon) fields(n *ast.CompositeLit) {
	for i, e := range n.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return
		}
		end := kv.End()
		if i+1 < len(n.Elts) {
			end = n.Elts[i+1].Pos()
		}
		s.cut(kv.Pos(), end, "", "a field left out: "+strings.Join(strings.Fields(s.text(kv)), " "))
	}
}
