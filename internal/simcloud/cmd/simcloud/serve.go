// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud"
)

const (
	// shutdownGrace is how long open requests may take once the server is to stop.
	shutdownGrace     = 5 * time.Second
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 2 * time.Minute
)

// serveCommand runs the server.
type serveCommand struct {
	Listen         string                   `default:"127.0.0.1:0" help:"Loopback host:port, or unix:///path."`
	Log            string                   `placeholder:"FILE" help:"Append the activity log to this file."`
	LogReads       bool                     `help:"Log reads too."`
	ReadyFile      string                   `placeholder:"FILE" help:"Write the endpoint URL to this file once the cloud answers."`
	Scale          float64                  `default:"1" help:"Factor on every latency."`
	Seed           uint64                   `default:"0" help:"Perturbs latencies (0 perturbs nothing) and decides which writes meet a fault that has a probability."`
	Latency        map[string]time.Duration `placeholder:"TYPE=DUR" help:"Latency of a type, such as virtual_machine=3s or virtual_machine.delete=1s. Repeatable."`
	FirstCallExtra map[string]time.Duration `placeholder:"ACTOR=DUR" help:"Extra latency of an actor's first write. Repeatable."`
	Supersede      bool                     `help:"A write of a network supersedes accepted writes of its subnets."`
	Throttle       float64                  `default:"0" placeholder:"N" help:"Writes per second and actor; 0 means no limit."`
	Quota          map[string]int           `placeholder:"LOCATION[/FAMILY]=N" help:"Virtual processors that machines may have in a location, in all or of one family of sizes. It can be read as .../locations/LOCATION/quotas/cores[-FAMILY] and changed there. Repeatable."`
	Fault          []string                 `placeholder:"JSON" sep:"none" help:"Trouble that writes meet, such as {\"type\":\"virtual_machine\",\"verb\":\"create\",\"drop_answer\":true}. Which writes: object_id, type, verb, actor, skip (let so many by), count (1 if not given, -1 for all), probability. What happens: drop_request, accept_delay (before the cloud looks at the call, also if the caller is gone), answer_delay, drop_answer, latency (of the operation), fail_after with code and message. Repeatable."`
	Subscription   []string                 `placeholder:"ID" help:"A known subscription. Repeatable."`
	TokenFile      string                   `placeholder:"FILE" help:"File of ACTOR=TOKEN lines; with it every call needs its actor's token."`
	AdminTokenFile string                   `placeholder:"FILE" help:"File with the token of the admin API; without it there is no admin API."`
}

// Run serves until ctx is done.
func (s *serveCommand) Run(ctx context.Context, std streams) (err error) {
	logger := slog.New(slog.NewTextHandler(std.err, nil))
	cfg, closeLog, err := s.config(logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeLog()) }()
	cloud, err := simcloud.New(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cloud.Close()) }()
	listener, endpoint, err := listen(s.Listen)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: cloud.Handler(), ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	if err := announce(s.ReadyFile, endpoint); err != nil {
		return errors.Join(err, server.Close(), ignoreClosed(<-served))
	}
	logger.Info("serving", "endpoint", endpoint)
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	cloud.EndDelays()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	return errors.Join(server.Shutdown(grace), ignoreClosed(<-served))
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// config opens the files named by the flags.
func (s *serveCommand) config(logger *slog.Logger) (simcloud.Config, func() error, error) {
	cfg := simcloud.Config{
		Subscriptions: s.Subscription, Latencies: s.Latency, Scale: s.Scale, Seed: s.Seed,
		FirstCallExtra: s.FirstCallExtra, Supersede: s.Supersede, WritesPerSecond: s.Throttle,
		Quotas: s.Quota, LogReads: s.LogReads, Logger: logger,
	}
	none := func() error { return nil }
	if s.Scale <= 0 {
		return cfg, none, fmt.Errorf("--scale %v must be positive", s.Scale)
	}
	for _, text := range s.Fault {
		f, err := simcloud.ParseFault([]byte(text))
		if err != nil {
			return cfg, none, fmt.Errorf("--fault: %w", err)
		}
		cfg.Faults = append(cfg.Faults, f)
	}
	var err error
	if cfg.Tokens, err = readTokens(s.TokenFile); err != nil {
		return cfg, none, err
	}
	if cfg.AdminToken, err = readSecret(s.AdminTokenFile); err != nil {
		return cfg, none, err
	}
	if s.Log == "" {
		return cfg, none, nil
	}
	f, err := os.OpenFile(s.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return cfg, none, fmt.Errorf("open activity log: %w", err)
	}
	cfg.Log = f
	return cfg, f.Close, nil
}

// maxSecretFile bounds files of tokens, in bytes.
const maxSecretFile = 1 << 20

// readTokens reads ACTOR=TOKEN lines; no name means no table.
func readTokens(name string) (map[string]string, error) {
	text, err := readSecret(name)
	if err != nil || name == "" {
		return nil, err
	}
	tokens := make(map[string]string)
	lines := bufio.NewScanner(strings.NewReader(text))
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		actor, token, ok := strings.Cut(line, "=")
		if !ok || actor == "" || token == "" {
			// The line may hold a secret, so only its number is shown.
			return nil, fmt.Errorf("token file %s line %d is not ACTOR=TOKEN", name, number)
		}
		tokens[actor] = token
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("token file %s: %w", name, err)
	}
	if len(tokens) == 0 {
		return nil, fmt.Errorf("token file %s names no actor", name)
	}
	return tokens, nil
}

// readSecret reads a small file; an empty name gives an empty text, an empty
// file is an error.
func readSecret(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("open token file: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSecretFile))
	if err != nil {
		return "", fmt.Errorf("read token file %s: %w", name, err)
	}
	if secret := strings.TrimSpace(string(text)); secret != "" {
		return secret, nil
	}
	return "", fmt.Errorf("token file %s is empty", name)
}
