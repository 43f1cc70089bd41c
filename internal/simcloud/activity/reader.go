// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package activity

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxLine bounds one line of the log, in bytes. A body is at most 1 MiB.
const maxLine = 4 << 20

// ReadLog reads all events of a log in order. A last line without its newline
// is left out, for a log may be read while it is written; any other line that
// is no event is an error that names the line number.
func ReadLog(r io.Reader) ([]Event, error) {
	var events []Event
	in := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := readLine(in)
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return nil, fmt.Errorf("activity log line %d: %w", number, err)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("activity log line %d: %w", number, err)
		}
		events = append(events, e)
	}
}

// readLine returns a line without its end, io.EOF when no complete line is left.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("longer than %d bytes", maxLine)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return line, err
	}
}

// ReadFile reads the log in the named file, see ReadLog.
func ReadFile(name string) (events []Event, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open activity log: %w", err)
	}
	defer func() {
		if cerr := f.Close(); err == nil && cerr != nil {
			err = fmt.Errorf("close activity log: %w", cerr)
		}
	}()
	return ReadLog(f)
}
