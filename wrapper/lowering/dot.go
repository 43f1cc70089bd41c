// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering

import (
	"bufio"
	"errors"
	"fmt"
	"io"
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

// maxLine bounds one statement, in bytes: it has two addresses.
const maxLine = 16 << 20

// dotReader reads a graph statement by statement.
type dotReader struct {
	graph digraph
	// names are those that were read already: each is in many statements.
	names map[string]string
}

// readDOT reads the subset of the DOT language that the CLI writes: one
// statement in a line, node names in quotes. Anything else is an error, since
// an order read wrongly is worse than none.
func readDOT(text io.Reader) (digraph, error) {
	r := dotReader{graph: digraph{}, names: map[string]string{}}
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, maxLine)
	depth, graphs := 0, 0
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "":
		case strings.HasPrefix(line, `"`):
			if err := r.statement(line); err != nil {
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
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", errDOT, err)
	}
	if graphs == 0 || depth != 0 {
		return nil, fmt.Errorf("%w: it is not complete", errDOT)
	}
	return r.graph, nil
}

// isSetting says whether a line sets an attribute of the graph itself.
func isSetting(line string) bool {
	name, _, ok := strings.Cut(line, "=")
	return ok && !strings.ContainsAny(name, `"[>`)
}

// statement reads a node, or an edge from a node to one that it waits for.
func (r dotReader) statement(line string) error {
	from, rest, err := r.nodeName(line)
	if err != nil {
		return err
	}
	target, isEdge := strings.CutPrefix(rest, "->")
	if isEdge {
		to, after, err := r.nodeName(strings.TrimSpace(target))
		if err != nil {
			return err
		}
		r.graph[from] = append(r.graph[from], to)
		from, rest = to, after
	}
	if _, known := r.graph[from]; !known {
		r.graph[from] = nil
	}
	if rest != "" && !strings.HasPrefix(rest, "[") {
		return fmt.Errorf("%w: a statement of an unknown kind", errDOT)
	}
	return nil
}

// nodeName reads the quoted name that a text begins with.
func (r dotReader) nodeName(text string) (name, rest string, err error) {
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", "", fmt.Errorf("%w: a name is not quoted", errDOT)
	}
	rest = strings.TrimSpace(text[len(quoted):])
	if name, known := r.names[quoted]; known {
		return name, rest, nil
	}
	if name, err = strconv.Unquote(quoted); err != nil {
		return "", "", fmt.Errorf("%w: a name is not quoted", errDOT)
	}
	name, ok := strings.CutPrefix(name, graphPrefix)
	if !ok {
		return "", "", fmt.Errorf("%w: it is not a graph of operations", errDOT)
	}
	name = strings.Clone(name) // without the statement
	r.names[strings.Clone(quoted)] = name
	return name, rest, nil
}
