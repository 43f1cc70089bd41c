// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// errDOT says that a text is not a graph as the CLI prints one.
var errDOT = errors.New("the graph of the plan cannot be read")

// digraph is what the CLI's "graph" command prints: for each node the nodes it
// waits for. A node that waits for nothing has an entry without any.
type digraph map[string][]string

// graphPrefix is the name of the graph, which the CLI puts before each name of
// a graph of operations. The summary of a configuration has none.
const graphPrefix = "[root] "

// readDOT reads the subset of the DOT language that the CLI writes: one
// statement in a line, node names in quotes. Anything else is an error, since
// an order read wrongly is worse than none.
func readDOT(text string) (digraph, error) {
	g := digraph{}
	depth, graphs := 0, 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case strings.HasPrefix(line, `"`):
			if err := g.statement(line); err != nil {
				return nil, err
			}
		case strings.HasSuffix(line, "{"):
			depth++
			graphs++
		case line == "}":
			depth--
		case isSetting(line):
		default:
			return nil, fmt.Errorf("%w: a line of an unknown kind", errDOT)
		}
	}
	if graphs == 0 || depth != 0 {
		return nil, fmt.Errorf("%w: it is not complete", errDOT)
	}
	return g, nil
}

// isSetting says whether a line sets an attribute of the graph itself.
func isSetting(line string) bool {
	name, _, ok := strings.Cut(line, "=")
	return ok && !strings.ContainsAny(name, `"[>`)
}

// statement reads a node, or an edge from a node to one that it waits for.
func (g digraph) statement(line string) error {
	from, rest, err := nodeName(line)
	if err != nil {
		return err
	}
	target, isEdge := strings.CutPrefix(rest, "->")
	if isEdge {
		to, after, err := nodeName(strings.TrimSpace(target))
		if err != nil {
			return err
		}
		g[from] = append(g[from], to)
		from, rest = to, after
	}
	if _, known := g[from]; !known {
		g[from] = nil
	}
	if rest != "" && !strings.HasPrefix(rest, "[") {
		return fmt.Errorf("%w: a statement of an unknown kind", errDOT)
	}
	return nil
}

// nodeName reads the quoted name that a text begins with.
func nodeName(text string) (name, rest string, err error) {
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", "", fmt.Errorf("%w: a name is not quoted", errDOT)
	}
	if name, err = strconv.Unquote(quoted); err != nil {
		return "", "", fmt.Errorf("%w: a name is not quoted", errDOT)
	}
	name, ok := strings.CutPrefix(name, graphPrefix)
	if !ok {
		return "", "", fmt.Errorf("%w: it is not a graph of operations", errDOT)
	}
	return name, strings.TrimSpace(text[len(quoted):]), nil
}
