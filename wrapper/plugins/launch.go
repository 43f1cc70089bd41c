// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
)

// The handshake by which a provider recognises that Terraform started it.
const (
	magicCookieKey   = "TF_PLUGIN_MAGIC_COOKIE"
	magicCookieValue = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2"
)

// defaultStartTimeout is how long a provider may take to print its handshake.
// Large providers on a busy machine need seconds; Terraform waits as long.
const defaultStartTimeout = time.Minute

// Command describes how to start a provider process.
type Command struct {
	// Path is the provider executable, from [Package].
	Path string
	// Args are passed to it; real providers take none.
	Args []string
	// Env is the whole environment; nil means that of this process. The entry
	// TF_REATTACH_PROVIDERS is never passed on.
	Env []string
	// Dir is the working directory; Terraform's own is that of the root
	// module.
	Dir string
	// SocketDir is the folder that the provider makes its socket in, so that
	// whoever owns the folder can remove what a provider leaves that is ended by
	// force; empty leaves it to the provider, which takes that of the temporary
	// files. The path must leave room for the name of the socket, 17 bytes, in
	// the 103 that a socket has on all systems. Providers on Windows ignore it:
	// they use no socket.
	SocketDir string
	// Source is the provider's address; it names the provider in log lines.
	Source string
	// Logger gets the provider's log lines, as of [NewLogger]; nil discards them.
	Logger hclog.Logger
	// Check is asked right before the program is started, which it is not when
	// there is an error: between the look at a package and the start of its
	// program may lie hours. nil allows it.
	Check func() error
	// Unverified is set for a program that no lock file vouches for, such as a
	// development override. It runs as any other, but its [Sender] is not known:
	// nobody can say which processes it starts.
	Unverified bool
	// StartTimeout bounds the wait for the handshake; 0 means one minute.
	StartTimeout time.Duration
}

// Process is a running provider process. It implements [Instance].
type Process struct {
	client   *plugin.Client
	conn     *grpc.ClientConn
	protocol int
	cmd      *exec.Cmd
	sender   Sender
	trace    *traceWriter
	cancel   context.CancelFunc
	kill     sync.Once
}

// LaunchError reports a provider process that could not be started.
type LaunchError struct {
	// Path is the provider executable.
	Path string
	// Trace is the panic trace that the process printed; empty when none.
	Trace string
	// Output is the last of what it printed to standard error beside log lines
	// and the trace.
	Output string
	Err    error
}

// Error names the executable and the reason.
func (e *LaunchError) Error() string {
	text := strings.TrimRight(fmt.Sprintf("start provider %s: %v", e.Path, e.Err), "\n")
	if e.Output != "" {
		text += "\nIts standard error was:\n" + e.Output
	}
	if e.Trace != "" {
		text += "\n" + e.Trace
	}
	return text
}

// Unwrap returns the reason.
func (e *LaunchError) Unwrap() error { return e.Err }

// Launch starts a provider and connects to it. The connection uses a one-time
// certificate on both sides, and message sizes are bounded only by the plugin
// protocol. ctx bounds the start, not the life of the process. Errors are
// *LaunchError.
func Launch(ctx context.Context, command Command) (*Process, error) {
	if command.Check != nil {
		if err := command.Check(); err != nil {
			return nil, &LaunchError{Path: command.Path, Err: err}
		}
	}
	// The process must outlive ctx, which is that of one request; until it has
	// started, however, an abandoned start must not linger.
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	started := context.AfterFunc(ctx, cancel)
	p := &Process{trace: &traceWriter{}, cancel: cancel}
	p.cmd = command.build(life)
	p.client = plugin.NewClient(command.clientConfig(p.cmd, p.trace))
	err := p.connect()
	if !started() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		p.Kill()
		return nil, &LaunchError{Path: command.Path, Trace: p.Trace(), Output: p.trace.Last(), Err: err}
	}
	p.sender = identify(p.PID(), command)
	return p, nil
}

func (c Command) build(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Dir = c.Dir
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	for _, entry := range env {
		if !strings.HasPrefix(entry, "TF_REATTACH_PROVIDERS=") {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	if c.SocketDir != "" {
		cmd.Env = append(cmd.Env, plugin.EnvUnixSocketDir+"="+c.SocketDir)
	}
	ownProcessGroup(cmd)
	return cmd
}

func (c Command) clientConfig(cmd *exec.Cmd, trace *traceWriter) *plugin.ClientConfig {
	logger := c.Logger
	if logger == nil {
		logger = discardLogger()
	}
	timeout := c.StartTimeout
	if timeout == 0 {
		timeout = defaultStartTimeout
	}
	return &plugin.ClientConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			MagicCookieKey: magicCookieKey, MagicCookieValue: magicCookieValue,
		},
		VersionedPlugins: map[int]plugin.PluginSet{5: {}, 6: {}},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		Cmd:              cmd,
		SkipHostEnv:      true,
		AutoMTLS:         true,
		Logger:           logger,
		Stderr:           trace,
		SyncStdout:       &lineLogger{logger: logger, origin: c.Source + ":stdout"},
		SyncStderr:       &lineLogger{logger: logger, origin: c.Source + ":stderr"},
		StartTimeout:     timeout,
	}
}

func (p *Process) connect() error {
	protocol, err := p.client.Client()
	if err != nil {
		return err
	}
	client, ok := protocol.(*plugin.GRPCClient)
	if !ok {
		return errors.New("provider does not speak gRPC")
	}
	p.conn, p.protocol = client.Conn, p.client.NegotiatedVersion()
	return nil
}

// Conn returns the connection to the process. It allows messages up to the
// largest size of the plugin protocol (2 GiB).
func (p *Process) Conn() grpc.ClientConnInterface { return p.conn }

// Protocol returns the negotiated plugin protocol version, 5 or 6.
func (p *Process) Protocol() int { return p.protocol }

// PID returns the process id, 0 when the process never started.
func (p *Process) PID() int {
	if p.cmd.Process == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// Sender identifies the process, which has been told nothing yet when Launch
// returns.
func (p *Process) Sender() Sender { return p.sender }

// Exited reports whether the process has ended and its output was read to the
// end.
func (p *Process) Exited() bool { return p.client.Exited() }

// Trace returns the panic trace that the process printed; empty when none.
func (p *Process) Trace() string { return p.trace.String() }

// Kill asks the process to end, ends it by force when it does not within two
// seconds, and waits until it is gone. Further calls wait for the first.
func (p *Process) Kill() {
	p.kill.Do(func() {
		p.client.Kill()
		p.cancel()
	})
}
