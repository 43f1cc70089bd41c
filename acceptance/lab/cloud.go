// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// CloudConfig says how a simulated cloud behaves. The zero value is the cloud
// of the paper in real time.
type CloudConfig struct {
	// Scale multiplies every latency; 0 means 1.
	Scale float64
	// Seed perturbs latencies; 0 perturbs nothing.
	Seed uint64
	// Latencies override the defaults, by type or type.verb.
	Latencies map[string]time.Duration
	// FirstCallExtra is added to an actor's first write.
	FirstCallExtra map[string]time.Duration
	// Quotas bound the processors of machines, by location or location/family.
	Quotas map[string]int
	// Tokens are the bearer tokens of actors; with any, the cloud asks for them.
	// Runs get that of their actor in the environment.
	Tokens map[string]string
	// Supersede lets writes of a network cancel accepted writes of its subnets.
	Supersede bool
}

// arguments are the command line of the server.
func (c CloudConfig) arguments() []string {
	args := []string{"serve", "--listen=127.0.0.1:0", "--seed=" + strconv.FormatUint(c.Seed, 10)}
	if c.Scale != 0 {
		args = append(args, "--scale="+strconv.FormatFloat(c.Scale, 'g', -1, 64))
	}
	for key, d := range c.Latencies {
		args = append(args, "--latency="+key+"="+d.String())
	}
	for actor, d := range c.FirstCallExtra {
		args = append(args, "--first-call-extra="+actor+"="+d.String())
	}
	for key, limit := range c.Quotas {
		args = append(args, "--quota="+key+"="+strconv.Itoa(limit))
	}
	if c.Supersede {
		args = append(args, "--supersede")
	}
	return args
}

// Cloud is a running simulated cloud.
type Cloud struct {
	// Endpoint is what providers are configured with.
	Endpoint string
	// LogFile is the activity log.
	LogFile string
	tokens  map[string]string
	process *exec.Cmd
	said    *output
}

// How long a cloud may take to answer and to stop.
const (
	cloudStart = 30 * time.Second
	cloudStop  = 10 * time.Second
)

// startCloud runs a cloud that logs to logFile and keeps its own files in dir.
func startCloud(ctx context.Context, binary, dir, logFile string, cfg CloudConfig) (*Cloud, error) {
	ready := filepath.Join(dir, "endpoint")
	args := append(cfg.arguments(), "--log="+logFile, "--ready-file="+ready)
	tokens, err := writeTokens(dir, cfg.Tokens)
	if err != nil {
		return nil, err
	}
	args = append(args, tokens...)
	c := &Cloud{LogFile: logFile, tokens: cfg.Tokens, process: exec.Command(binary, args...), said: new(output)}
	c.process.Stdout, c.process.Stderr = c.said, c.said
	if err := c.process.Start(); err != nil {
		return nil, fmt.Errorf("start the simulated cloud: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, cloudStart)
	defer cancel()
	err = Await(ctx, "the simulated cloud answers", func() (bool, error) {
		text, err := os.ReadFile(ready)
		if errors.Is(err, os.ErrNotExist) {
			return false, nil
		}
		c.Endpoint = string(text)
		return err == nil, err
	})
	if err != nil {
		return nil, errors.Join(err, c.stop(), errors.New(tail(c.said.String(), 20)))
	}
	return c, nil
}

// writeTokens writes the table of tokens and returns the arguments that name it.
func writeTokens(dir string, tokens map[string]string) (args []string, err error) {
	if len(tokens) == 0 {
		return nil, nil
	}
	var table strings.Builder
	for actor, token := range tokens {
		fmt.Fprintf(&table, "%s=%s\n", actor, token)
	}
	file := filepath.Join(dir, "tokens")
	if err := os.WriteFile(file, []byte(table.String()), 0o600); err != nil {
		return nil, fmt.Errorf("start the simulated cloud: %w", err)
	}
	return []string{"--token-file=" + file}, nil
}

// stop ends the cloud; operations in flight never end.
func (c *Cloud) stop() error {
	if err := interrupt(c.process.Process); err != nil {
		return fmt.Errorf("stop the simulated cloud: %w", err)
	}
	killer := time.AfterFunc(cloudStop, func() { _ = c.process.Process.Kill() })
	defer killer.Stop()
	// How it exits does not matter: what counts is in the log.
	_ = c.process.Wait()
	return nil
}

// Log is the activity log so far.
func (c *Cloud) Log() (activity.Log, error) {
	events, err := activity.ReadFile(c.LogFile)
	if errors.Is(err, os.ErrNotExist) {
		return activity.Log{}, nil
	}
	if err != nil {
		return activity.Log{}, fmt.Errorf("read the activity log: %w", err)
	}
	log, err := activity.Pair(events)
	if err != nil {
		return activity.Log{}, fmt.Errorf("read the activity log: %w", err)
	}
	return log, nil
}

// Await waits until the activity log satisfies a condition.
func (c *Cloud) Await(ctx context.Context, what string, holds func(activity.Log) bool) error {
	return Await(ctx, what, func() (bool, error) {
		log, err := c.Log()
		return err == nil && holds(log), err
	})
}

// Is reports whether an operation is one of an object type and name: the last
// segments of its type and of its id, without regard to case.
func Is(o activity.Operation, objectType, name string) bool {
	return strings.EqualFold(lastSegment(o.ObjectType), objectType) && strings.EqualFold(lastSegment(o.ObjectID), name)
}

func lastSegment(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// Wrote is a condition: a write of the named object has reached a status.
// Accepted means that it was at least accepted.
func Wrote(objectType, name string, status activity.Status) func(activity.Log) bool {
	return func(log activity.Log) bool {
		return slices.ContainsFunc(log.Operations, func(o activity.Operation) bool {
			return Is(o, objectType, name) && (status == activity.Accepted || o.Result == status)
		})
	}
}
