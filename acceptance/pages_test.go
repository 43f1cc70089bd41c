// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// What shall become of a block of commands of a page. It stands in a comment
// above the block, which readers do not see.
const (
	// blockRun is run to its end, and all its commands succeed.
	blockRun = "run"
	// blockRefused is run to its end, which is exit code 1.
	blockRefused = "refused"
	// blockServe runs until the test has ended.
	blockServe = "serve"
)

// block is one fenced block of shell commands of a page.
type block struct {
	// where is page and line of the first command.
	where  string
	kind   string
	script string
}

// blocksOf are the blocks of a page of the checkout. A block of language sh
// without a known mark is an error: nobody would notice when it stopped working.
func blocksOf(module, page string) ([]block, error) {
	text, err := os.ReadFile(filepath.Join(module, page))
	if err != nil {
		return nil, err
	}
	var blocks []block
	lines := strings.Split(string(text), "\n")
	for n := 0; n < len(lines); n++ {
		if lines[n] != "```sh" {
			continue
		}
		b := block{where: fmt.Sprintf("%s:%d", page, n+2), kind: markAbove(lines[:n])}
		if b.kind != blockRun && b.kind != blockRefused && b.kind != blockServe {
			return nil, fmt.Errorf("%s: no test runs this block: mark it, or give it another language", b.where)
		}
		for n++; lines[n] != "```"; n++ { // an unclosed fence is found by the index
			b.script += lines[n] + "\n"
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// markAbove is the KIND of <!-- test: KIND --> in the last of the lines.
func markAbove(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	mark, ok := strings.CutPrefix(lines[len(lines)-1], "<!-- test: ")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(mark, " -->")
}
