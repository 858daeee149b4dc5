package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
)

// swaps is the replacements of each binary operator. Mutants that do not compile (a
// difference of strings) are left out later.
var swaps = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	token.AND: token.OR, token.OR: token.AND, token.XOR: token.OR, token.AND_NOT: token.AND, token.SHL: token.SHR, token.SHR: token.SHL,

	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.MUL_ASSIGN: token.QUO_ASSIGN,
	token.OR_ASSIGN: token.AND_ASSIGN, token.AND_ASSIGN: token.OR_ASSIGN, token.AND_NOT_ASSIGN: token.AND_ASSIGN,
	token.INC: token.DEC, token.DEC: token.INC,
}

// talk is packages and methods whose arguments decide nothing: messages, sizes of
// buffers, progress.
var talk = []string{"fmt", "errors", "slog", "bufio", "Report", "Grow", "panic", "Errorf", "ErrorAt"}

// wordy is functions that only format messages.
var wordy = []string{"Error", "String", "Explain"}

// goFile is a Go file, with the function that is visited and the mutants found so far.
type goFile struct {
	name   string
	source []byte
	fset   *token.FileSet
	fn     string
	found  []mutant
}

func goMutants(name string, source []byte) ([]mutant, error) {
	g := &goFile{name: name, source: source, fset: token.NewFileSet()}
	file, err := parser.ParseFile(g.fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if g.fn = funcName(d); d.Body != nil && !slices.Contains(wordy, d.Name.Name) {
				ast.Inspect(d.Body, g.visit)
			}
		case *ast.GenDecl:
			if g.fn = ""; d.Tok != token.IMPORT {
				ast.Inspect(d, g.visit)
			}
		}
	}
	return g.found, nil
}

func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + d.Name.Name
		default:
			return d.Name.Name
		}
	}
}

// visit records the mutants of a node, and says whether to visit its children.
func (g *goFile) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ArrayType: // its length is a matter of memory
		ast.Inspect(n.Elt, g.visit)
		return false
	case *ast.CallExpr:
		return g.call(n)
	case *ast.BinaryExpr:
		if to, ok := swaps[n.Op]; ok {
			g.operator(n, n.OpPos, n.Op, to)
		}
		if n.Op == token.LAND && nowAndThen(n.X) && checksForEnd(n.Y) {
			ast.Inspect(n.Y, g.visit)
			return false
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			g.replace(n, n, g.text(n.X))
		}
	case *ast.IfStmt:
		if onlyReports(n) {
			return false
		}
		g.negate(n.Cond)
	case *ast.ForStmt:
		// Without its first and last clause a loop does not end, or does
		// not compile: that says nothing about tests.
		if n.Cond != nil {
			g.negate(n.Cond)
			ast.Inspect(n.Cond, g.visit)
		}
		ast.Inspect(n.Body, g.visit)
		return false
	case *ast.BasicLit:
		g.number(n)
	case *ast.Ident:
		g.boolean(n)
	default:
		if s, ok := n.(ast.Stmt); ok {
			return g.statement(s)
		}
	}
	return true
}

// onlyReports reports whether a condition only decides when to report progress.
func onlyReports(n *ast.IfStmt) bool {
	if n.Else != nil || len(n.Body.List) != 1 {
		return false
	}
	s, ok := n.Body.List[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	c, ok := s.X.(*ast.CallExpr)
	return ok && callee(c) == "Report"
}

// nowAndThen reports whether a condition holds every so many times: a%b == 0. If
// looksForEnd follows, the number does not affect any result.
func nowAndThen(cond ast.Expr) bool {
	c, ok := cond.(*ast.BinaryExpr)
	if !ok || c.Op != token.EQL {
		return false
	}
	x, ok := c.X.(*ast.BinaryExpr)
	return ok && x.Op == token.REM
}

// checksForEnd reports whether a condition is that a context has ended.
func checksForEnd(cond ast.Expr) bool {
	c, ok := cond.(*ast.BinaryExpr)
	if !ok || c.Op != token.NEQ {
		return false
	}
	x, ok := c.X.(*ast.CallExpr)
	return ok && callee(x) == "Err"
}

// statement records what can be left out.
func (g *goFile) statement(n ast.Stmt) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			break
		}
		g.replace(n, n, "")
		if to, ok := swaps[n.Tok]; ok {
			g.operator(n, n.TokPos, n.Tok, to)
		}
	case *ast.IncDecStmt:
		g.replace(n, n, "")
		g.operator(n, n.TokPos, n.Tok, swaps[n.Tok])
	case *ast.BranchStmt:
		if n.Tok == token.CONTINUE || n.Tok == token.BREAK {
			g.replace(n, n, "")
		}
	case *ast.ReturnStmt:
		if n.Results == nil {
			g.replace(n, n, "")
		}
	case *ast.ExprStmt:
		if c, ok := n.X.(*ast.CallExpr); ok && !slices.Contains(talk, callee(c)) {
			g.replace(n, n, "")
		}
	case *ast.DeferStmt:
		return false // it only cleans up
	}
	return true
}

// call leaves out arguments that decide nothing, and exchanges min and max.
func (g *goFile) call(n *ast.CallExpr) bool {
	name := callee(n)
	switch {
	case slices.Contains(talk, name):
		return false
	case name == "make": // the last argument of three is a matter of memory
		for _, a := range n.Args[1:min(len(n.Args), 2)] {
			ast.Inspect(a, g.visit)
		}
		return false
	case name == "min":
		g.replace(n, n.Fun, "max")
	case name == "max":
		g.replace(n, n.Fun, "min")
	}
	return true
}

// callee is the package, method or function that a call names.
func callee(n *ast.CallExpr) string {
	switch f := n.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok && slices.Contains(talk, x.Name) {
			return x.Name
		}
		return f.Sel.Name
	}
	return ""
}

// negate negates a condition, unless exchanging its operator does the same.
func (g *goFile) negate(cond ast.Expr) {
	switch c := cond.(type) {
	case *ast.BinaryExpr:
		if c.Op == token.EQL || c.Op == token.NEQ {
			return
		}
	case *ast.UnaryExpr:
		if c.Op == token.NOT {
			return
		}
	}
	g.replace(cond, cond, "!("+g.text(cond)+")")
}

// number makes a whole number one more, and one less.
func (g *goFile) number(n *ast.BasicLit) {
	v, err := strconv.ParseInt(n.Value, 0, 64)
	if n.Kind != token.INT || err != nil {
		return
	}
	g.replace(n, n, strconv.FormatInt(v+1, 10))
	if v > 0 {
		g.replace(n, n, strconv.FormatInt(v-1, 10))
	}
}

func (g *goFile) boolean(n *ast.Ident) {
	switch n.Name {
	case "true":
		g.replace(n, n, "false")
	case "false":
		g.replace(n, n, "true")
	}
}

// operator notes another operator in an expression or statement.
func (g *goFile) operator(whole ast.Node, at token.Pos, from, to token.Token) {
	offset := g.offset(at)
	g.add(whole, offset, offset+len(from.String()), to.String())
}

// replace notes another text for a part of an expression or statement.
func (g *goFile) replace(whole, part ast.Node, text string) {
	g.add(whole, g.offset(part.Pos()), g.offset(part.End()), text)
}

func (g *goFile) add(whole ast.Node, from, to int, text string) {
	at := g.fset.Position(token.Pos(g.fset.File(whole.Pos()).Base() + from))
	old := g.text(whole)
	start := g.offset(whole.Pos())
	changed := old[:from-start] + text + old[to-start:]
	g.found = append(g.found, mutant{
		File: g.name, Func: g.fn, Line: at.Line, Column: at.Column, What: change(old, changed),
		offset: from, end: to, text: text,
	})
}

func (g *goFile) offset(p token.Pos) int { return g.fset.Position(p).Offset }

func (g *goFile) text(n ast.Node) string {
	return string(g.source[g.offset(n.Pos()):g.offset(n.End())])
}
