// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package terraform

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeVariable makes the test binary act as a CLI.
const fakeVariable = "TFWEAVER_TEST_CLI"

func TestMain(m *testing.M) {
	if os.Getenv(fakeVariable) != "" {
		os.Exit(fakeCLI(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// fakeCLI does what its arguments say.
func fakeCLI(args []string) int {
	switch args[0] {
	case "version":
		fmt.Println(`{"terraform_version":"1.11.4","platform":"x"}`)
	case "exit":
		code, _ := strconv.Atoi(args[1])
		return code
	case "echo":
		fmt.Println(strings.Join(args[1:], " "))
	case "-chdir=x": // with the arguments of a command that is to print them
		fmt.Println(strings.Join(args, " "))
	case "fail", "graph":
		fmt.Fprintln(os.Stderr, "something is wrong")
		return 3
	case "die":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Minute)
	case "signals":
		return countSignals()
	}
	return 0
}

// countSignals prints "ready", and after the first signal waits a little for
// more. Its exit code is 10 plus the number of signals.
func countSignals() int {
	ch := make(chan os.Signal, 8)
	signal.Notify(ch, syscall.SIGINT, syscall.SIGTERM)
	fmt.Println("ready")
	fmt.Println("got", <-ch)
	n := 1
	for {
		select {
		case <-ch:
			n++
		case <-time.After(300 * time.Millisecond):
			return 10 + n
		}
	}
}
