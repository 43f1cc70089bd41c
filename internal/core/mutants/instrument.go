// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// Site is one place at which an instrumented source file can go wrong.
type Site struct {
	Number int    // what the switch has to be set to
	File   string // inside the repository
	Line   int
	Func   string
	What   string
}

func (s Site) String() string {
	return fmt.Sprintf("%d %s:%d %s: %s", s.Number, s.File, s.Line, s.Func, s.What)
}

// The names that instrumented code uses, and the file that declares them for a
// package: which fault is on is read from the environment.
const (
	faultVariable = "seededFault"
	FaultEnv      = "SEEDED_FAULT"
	faultSource   = `package %s

import (
	"os"
	"strconv"
)

var seededFault = func() int { n, _ := strconv.Atoi(os.Getenv("SEEDED_FAULT")); return n }()

func seededZero[T any](n int, v T) T {
	if seededFault == n {
		return *new(T)
	}
	return v
}
`
)

// Instrument puts many faults into a source file at once, each behind a switch:
// the tests are compiled once, and one run of them tries one fault. Conditions
// are negated, never true, or lose a part; bounds move by one; statements are
// left out; loops, cases and functions do nothing; what is returned or put into a
// field is zero. Numbers begin after first.
func Instrument(file string, src []byte, first int) ([]byte, []Site, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, fmt.Errorf("instrument: %w", err)
	}
	p := &planter{src: src, file: fset.File(parsed.Pos()), path: file, number: first}
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			p.name = f.Name.Name
			p.function(f.Type, f.Body, true)
		}
	}
	return p.write(), p.sites, nil
}

// planter collects what is written before and behind the nodes of a file.
type planter struct {
	src    []byte
	file   *token.File
	path   string
	name   string
	number int
	sites  []Site
	before map[int][]string // by offset; outer nodes come first
	behind map[int][]string // inner nodes come first
}

func (p *planter) text(n ast.Node) string {
	return string(p.src[p.file.Offset(n.Pos()):p.file.Offset(n.End())])
}

// plant writes something around a node, in which %[1]d is the fault's number.
func (p *planter) plant(from, to token.Pos, before, behind, what string) {
	p.number++
	p.sites = append(p.sites, Site{p.number, p.path, p.file.Line(from), p.name, strings.Join(strings.Fields(what), " ")})
	if p.before == nil {
		p.before, p.behind = map[int][]string{}, map[int][]string{}
	}
	fill := func(s string) string {
		return strings.NewReplacer("FAULT", fmt.Sprintf("("+faultVariable+" == %d)", p.number), "NUMBER", fmt.Sprint(p.number)).Replace(s)
	}
	a, b := p.file.Offset(from), p.file.Offset(to)
	if before != "" {
		p.before[a] = append(p.before[a], fill(before))
	}
	if behind != "" {
		p.behind[b] = slices.Insert(p.behind[b], 0, fill(behind))
	}
}

// put writes something before a place.
func (p *planter) put(at token.Pos, text string) {
	if p.before == nil {
		p.before, p.behind = map[int][]string{}, map[int][]string{}
	}
	p.before[p.file.Offset(at)] = append(p.before[p.file.Offset(at)], text)
}

func (p *planter) around(n ast.Node, before, behind, what string) {
	p.plant(n.Pos(), n.End(), before, behind, what+": "+p.text(n))
}

func (p *planter) write() []byte {
	var b bytes.Buffer
	for i, c := range p.src {
		for _, s := range p.behind[i] {
			b.WriteString(s)
		}
		for _, s := range p.before[i] {
			b.WriteString(s)
		}
		b.WriteByte(c)
	}
	return b.Bytes()
}

func (p *planter) function(t *ast.FuncType, body *ast.BlockStmt, named bool) {
	results := 0
	var zeros []string
	if t.Results != nil {
		for _, r := range t.Results.List {
			for range max(1, len(r.Names)) {
				results++
				zeros = append(zeros, "*new("+p.text(r.Type)+")")
			}
		}
	}
	if named {
		p.plant(body.Lbrace+1, body.Lbrace+1, "\nif FAULT {\nreturn "+strings.Join(zeros, ", ")+"\n}\n", "", p.name+" does nothing")
	}
	if results > 0 { // no case or loop needs to be the last word any more
		p.put(body.Rbrace, "\npanic(\"no result\")\n")
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncLit); ok {
			p.function(f.Type, f.Body, false)
			return false
		}
		p.node(n, results)
		return true
	})
}

func (p *planter) node(n ast.Node, results int) {
	switch n := n.(type) {
	case *ast.IfStmt:
		p.around(n.Cond, "((", ") != FAULT)", "negated")
		p.around(n.Cond, "(!FAULT && (", "))", "never")
	case *ast.ForStmt:
		p.nothing(n.Body.Lbrace+1, "a loop does nothing")
	case *ast.RangeStmt:
		p.nothing(n.Body.Lbrace+1, "a loop does nothing")
	case *ast.BinaryExpr:
		p.binary(n)
	case *ast.Ident:
		switch n.Name {
		case "true":
			p.around(n, "(", " != FAULT)", "false for")
		case "false":
			p.around(n, "(", " != FAULT)", "true for")
		}
	case *ast.BlockStmt:
		p.statements(n.List)
	case *ast.CaseClause:
		p.statements(n.Body)
		if len(n.Body) > 0 {
			p.nothing(n.Colon+1, "a case does nothing")
		}
	case *ast.ReturnStmt:
		if len(n.Results) == results {
			p.zeros(n.Results, "returns nothing")
		}
	case *ast.CompositeLit:
		for _, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				p.zeros([]ast.Expr{kv.Value}, "a field stays zero")
			}
		}
	}
}

func (p *planter) nothing(at token.Pos, what string) {
	p.plant(at, at, "\nif FAULT {\nbreak\n}\n", "", what)
}

// zeros puts nothing in the place of values whose type the compiler can tell.
func (p *planter) zeros(list []ast.Expr, what string) {
	for _, e := range list {
		switch x := e.(type) {
		case *ast.BasicLit, *ast.FuncLit:
			continue
		case *ast.Ident:
			if x.Name == "nil" || x.Name == "true" || x.Name == "false" {
				continue
			}
		case *ast.CompositeLit:
			if x.Type == nil {
				continue
			}
		}
		p.around(e, "seededZero(NUMBER, ", ")", what)
	}
}

func (p *planter) binary(n *ast.BinaryExpr) {
	x, y := "("+p.text(n.X)+")", "("+p.text(n.Y)+")"
	switch n.Op {
	case token.LAND:
		p.plant(n.X.Pos(), n.X.End(), "(FAULT || (", "))", "only the second of: "+p.text(n))
		p.plant(n.Y.Pos(), n.Y.End(), "(FAULT || (", "))", "only the first of: "+p.text(n))
	case token.LOR:
		p.plant(n.X.Pos(), n.X.End(), "(!FAULT && (", "))", "only the second of: "+p.text(n))
		p.plant(n.Y.Pos(), n.Y.End(), "(!FAULT && (", "))", "only the first of: "+p.text(n))
	case token.EQL, token.NEQ:
		p.around(n, "((", ") != FAULT)", "the contrary of")
	case token.LSS, token.GTR:
		p.around(n, "((", ") || FAULT && "+x+" == "+y+")", "or equal")
	case token.LEQ, token.GEQ:
		p.around(n, "((", ") && !(FAULT && "+x+" == "+y+"))", "and not equal")
	}
}

func (p *planter) statements(list []ast.Stmt) {
	for _, s := range list {
		switch x := s.(type) {
		case *ast.ExprStmt:
			if call, ok := x.X.(*ast.CallExpr); ok && p.text(call.Fun) == "panic" {
				continue
			}
		case *ast.AssignStmt:
			if x.Tok == token.DEFINE {
				continue
			}
		case *ast.IncDecStmt:
		default:
			continue
		}
		p.around(s, "if !FAULT {\n", "\n}", "left out")
	}
}
