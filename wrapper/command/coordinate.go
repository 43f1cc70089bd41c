// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/hashicorp/go-version"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	tfweaver "github.com/tfweaver/tfweaver/internal/version"
	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/gatekeeper"
	"github.com/tfweaver/tfweaver/wrapper/identity"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/remote"
	"github.com/tfweaver/tfweaver/wrapper/scratch"
	"github.com/tfweaver/tfweaver/wrapper/settings"
	"github.com/tfweaver/tfweaver/wrapper/terraform"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// patience bounds how long the end of a run may wait for calls that were sent
// and not answered when the CLI is gone.
const patience = 30 * time.Minute

// goodbye bounds the messages to the coordinator after the CLI has ended.
const goodbye = 10 * time.Second

// run is one coordinated run.
type run struct {
	app     *App
	inv     arguments.Invocation
	shared  settings.Settings
	opts    arguments.Options
	binary  terraform.Binary
	version *version.Version
	workdir terraform.Workdir
	view    views.View
	// lines is the printer of JSON lines; nil when there are none.
	lines   *views.Printer
	log     *slog.Logger
	client  *client.Client
	session *client.Session
	where   whereabouts
	who     identity.Identity
	engine  *ruleengine.Engine
	gate    *gatekeeper.Gatekeeper
	// execution is where a cloud workspace's operations run.
	execution remote.Execution
	meter     *meter
	realms    *realms
	host      *intercept.Host
	// env is the environment of the CLI.
	env    arguments.Environment
	closer []func()
	// waited is for how long the run has waited for its state.
	waited time.Duration
	// configured counts how often a provider was configured.
	configured   int64
	interruption interruption
	// silence ends the watch over the coordinator's answers, and says for how long
	// there was none at most.
	silence func() time.Duration
}

// whereabouts is what is known of the coordinator.
type whereabouts struct {
	host     string
	embedded bool
}

// coordinate carries out a command that runs providers. It returns
// errNothingToCoordinate when the CLI is to do all by itself.
func (a *App) coordinate(ctx context.Context, inv arguments.Invocation, shared settings.Settings, binary terraform.Binary) (int, error) {
	if a.Thrift != nil {
		a.Thrift()
	}
	r := &run{app: a, inv: inv, shared: shared, opts: inv.Options(a.Env), binary: binary, log: ownLog(a.Env, a.Stderr), realms: &realms{}}
	r.view, r.lines = a.views(inv, r.opts)
	defer r.release()
	opening, stop := a.interruptible(ctx)
	err := r.open(opening)
	interrupted := context.Cause(opening)
	stop()
	if interrupted != nil {
		return 0, interrupted
	}
	if err != nil {
		return 0, err
	}
	code, err := r.turn(ctx)
	if err != nil {
		problem, failed := explainTo(inv, err)
		r.view.Problem(problem)
		code = failed
	}
	return r.close(ctx, code), nil
}

// open prepares everything that the CLI will need. Whatever can be wrong is
// found out here, before anything is sent.
func (r *run) open(ctx context.Context) error {
	var err error
	r.workdir, err = terraform.Examine(r.app.Dir, r.inv.Chdir(), r.app.Env, r.opts.State, r.app.System.Host)
	if err != nil {
		return err
	}
	// Without a lock file there is hardly anything to coordinate, and the CLI
	// may be left alone.
	version := func() (*version.Version, error) { return r.identify(ctx) }
	if _, absent := os.Stat(r.workdir.LockFile()); absent == nil {
		if version, err = r.soon(ctx); err != nil {
			return err
		}
	}
	providerLines, done := providerLog(r.app.Env, r.app.Stderr)
	r.closer = append(r.closer, done)
	list, warnings, err := sources(r.workdir, r.binary.Product, r.app.Env, []string{arguments.TokenVariable, r.inv.Weaver.TokenEnv}, providerLines)
	if err != nil {
		return err
	}
	if len(list) == 0 || r.outdated(ctx) {
		return errNothingToCoordinate
	}
	if r.engine, err = loadRules(r.inv.Weaver.Rules, r.app.Env); err != nil {
		return err
	}
	if r.version, err = version(); err != nil {
		return err
	}
	r.lookElsewhere(ctx)
	conn, err := r.connect(ctx)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		r.view.Problem(w)
	}
	r.gate = gatekeeper.New(gatekeeper.Config{
		Session: gatekeeper.Coordinated(r.session), Engine: r.engine, View: r.view,
		Explain: conn.Explain, Mode: r.mode, Override: r.override(), Within: around(r.app.Env),
		Wait: r.inv.Weaver.Wait, Offline: r.inv.Weaver.Offline == arguments.OfflineAllow, Logger: r.log,
		State: r.workdir.Origin, Import: r.importing(),
	})
	r.meter = newMeter(r.gate, r.view)
	return r.serve(ctx, list)
}

// askVersion asks the CLI for its version, which takes it a moment, while the
// rest goes on. The result waits for the answer.
func (r *run) askVersion(ctx context.Context) func() (*version.Version, error) {
	type answer struct {
		version *version.Version
		err     error
	}
	answers := make(chan answer, 1)
	p := r.process()
	p.Signals = nil // a signal is for what the user waits for
	go func() {
		v, err := p.Version(ctx)
		answers <- answer{v, err}
	}()
	return func() (*version.Version, error) {
		a := <-answers
		return a.version, a.err
	}
}

// connect finds the coordinator and opens the session.
func (r *run) connect(ctx context.Context) (*client.Client, error) {
	conn, err := r.app.dial(ctx, r.inv.Weaver)
	if err != nil {
		return nil, err
	}
	r.closer = append(r.closer, func() { _ = conn.Close() })
	r.client = conn
	info, err := conn.Info(ctx)
	if err != nil {
		return nil, &connectError{Address: r.inv.Weaver.Coordinator, Err: err}
	}
	r.where = whereabouts{host: info.GetHost(), embedded: info.GetEmbedded()}
	r.who = identity.Resolve(r.app.Env, r.app.System, r.workdir.Root)
	r.session, err = conn.Open(ctx, r.sessionConfig(r.who))
	if err != nil {
		return nil, &connectError{Address: r.inv.Weaver.Coordinator, Err: err}
	}
	r.watchSilence()
	r.log.DebugContext(ctx, "session opened", "session", r.session.ID(), "host", r.where.host, "embedded", r.where.embedded)
	return conn, nil
}

func (r *run) sessionConfig(who identity.Identity) client.SessionConfig {
	product := r.binary.Product.Command()
	objective := r.inv.Weaver.Intent
	if objective == "" {
		objective = identity.Objective(product, r.inv.Command, r.workdir.Root, r.workdir.Workspace, who.Purpose())
	}
	policy := admission.Policy(r.inv.Weaver.Policy)
	if r.inv.Command == "test" {
		// What a test made must be cleaned up, late rather than never.
		policy = admission.Queue
	}
	return client.SessionConfig{
		Actor: who.Actor, Host: who.Host, RunURL: who.RunURL, Links: who.Links,
		Tool:   identity.Tool(tfweaver.Version, product, r.version.String()),
		Origin: r.workdir.Origin, Policy: policy, Labels: who.Labels(), Lease: r.inv.Weaver.Lease,
		Objective: objective, Kind: r.kind(), Phase: "planning",
	}
}

// kind is the kind of the session's intent.
func (r *run) kind() string {
	switch {
	case r.opts.Destroy:
		return "destroy"
	case r.inv.Command == "apply", r.inv.Command == "test":
		return "mixed"
	default:
		return "read"
	}
}

// serve starts the proxies and points the CLI at them.
func (r *run) serve(ctx context.Context, list []source) error {
	sockets, err := r.private(scratch.ForSockets)
	if err != nil {
		return err
	}
	r.host, err = intercept.Serve(ctx, r.proxies(list, sockets), intercept.Options{
		Gate: r.gate, Watcher: witness{r.meter, &r.configured}, Logger: r.log, ForwardLimit: r.opts.Parallelism, SocketDir: sockets,
	})
	if err != nil {
		return err
	}
	r.gate.UseSchemas(r.host.Schema)
	r.gate.UseReader(r.host)
	ours, err := r.host.Reattach()
	if err != nil {
		return err
	}
	all, err := intercept.MergeReattach(ours, r.app.Env.Get(intercept.ReattachEnv))
	if err != nil {
		return err
	}
	r.env = inside(attached(terraform.Deeper(r.app.Env), all), r.session.ID())
	return nil
}

// process is a run of the CLI that still lacks arguments.
func (r *run) process() terraform.Process {
	env := r.env
	if env == nil {
		env = terraform.Deeper(r.app.Env)
	}
	return terraform.Process{
		Path: r.binary.Path, Env: env, Dir: r.app.Dir,
		Stdin: r.app.Stdin, Stdout: r.app.Stdout, Stderr: r.app.Stderr, Signals: r.app.Signals,
		Listen: r.app.Listen, Signalled: r.interruption.note,
	}
}

// cli runs the CLI and waits for it. With JSON its lines are printed one by
// one, so that they do not mix with ours.
func (r *run) cli(ctx context.Context, args []string, env arguments.Environment, out outlet) (int, error) {
	if err := r.ended(); err != nil {
		return 0, err
	}
	if err := r.gate.Begin(ctx); err != nil {
		return 0, &connectError{Address: r.inv.Weaver.Coordinator, Err: err}
	}
	p := r.process()
	p.Args, p.Env = args, env
	if out.stderr != nil {
		p.Stderr = out.stderr
	}
	if out.stdout != nil {
		p.Stdout = out.stdout
	}
	if r.lines == nil {
		return p.Run(ctx)
	}
	lines := views.NewLines(r.lines, out.drop)
	p.Stdout = lines
	last := func() error { return nil }
	if out.line != nil {
		changed := &each{out: lines, line: out.line}
		p.Stdout, last = changed, changed.Close
	}
	code, err := p.Run(ctx)
	printed := errors.Join(last(), lines.Flush())
	if err == nil && unread(printed) {
		return brokenPipe, nil
	}
	return code, errors.Join(err, printed)
}

// act runs the command.
func (r *run) act(ctx context.Context) (int, error) {
	switch r.inv.Command {
	case "apply", "destroy":
		return r.apply(ctx)
	case "plan":
		return r.plan(ctx)
	default:
		return r.command(ctx)
	}
}

// close ends the run in order: the proxies when all calls are answered, the
// session, and then the summary.
func (r *run) close(ctx context.Context, code int) int {
	ctx = context.WithoutCancel(ctx)
	stop := r.meter.during("waiting until it is known, and told to the coordinator, how all changes ended", nil)
	r.await(ctx, r.gate.Await) // while the proxies can still read
	r.shutProxies(ctx)
	r.await(ctx, r.gate.Finish)
	stop()
	summary := r.gate.Summary()
	summary.Host, summary.Embedded = r.where.host, r.where.embedded
	summary.Brief = !r.mutates() || (code != 0 && r.gate.Submitted() == 0)
	summary.Unanswered = r.unanswered(ctx, code)
	for _, c := range r.host.Crashes() {
		summary.Crashes = append(summary.Crashes, views.Crash{Provider: c.Provider, Trace: c.Trace})
	}
	last, cancel := context.WithTimeout(ctx, goodbye)
	defer cancel()
	stop = r.meter.during("telling the coordinator that the run has ended", nil)
	r.gate.Close(last)
	ended := r.session.Err() // nil while it is open
	peers, err := r.session.Close(last)
	stop()
	if err != nil {
		r.log.WarnContext(ctx, "session not closed; it ends with its lease", "error", err)
	}
	summary.Silence = r.silence()
	summary.Peers, summary.Lost = peers, lost(errors.Join(ended, err))
	if problem, ok := misfit(r.shared, r.realms.all()); ok && r.mutates() {
		r.view.Problem(problem)
	}
	r.view.Summary(summary)
	r.tellElsewhere()
	if code == ExitError && len(summary.Refused) > 0 && r.inv.Weaver.ExitCodes {
		return ExitRefused
	}
	return code
}

// lost says whether an error means that the coordinator does not answer.
func lost(err error) bool {
	return errors.Is(err, client.ErrUnreachable) || errors.Is(err, client.ErrLost) || errors.Is(err, context.DeadlineExceeded)
}

func (r *run) mutates() bool { return r.inv.Command == "apply" || r.inv.Command == "destroy" }

// shutProxies waits for calls that were sent; a signal ends the waiting.
func (r *run) shutProxies(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ctx, stop := r.app.interruptible(ctx)
	defer stop()
	if err := r.host.Close(ctx); err != nil {
		r.log.WarnContext(ctx, "provider proxies not closed cleanly", "error", err)
	}
}

// await waits for the outcomes that are still being found out, so that others
// need not wait for them; a signal ends the waiting.
func (r *run) await(ctx context.Context, wait func(context.Context)) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	waiting, stop := r.app.interruptible(ctx)
	defer stop()
	wait(waiting)
}

// release frees what open may have taken before it failed.
func (r *run) release() {
	if r.host != nil {
		ctx, cancel := context.WithTimeout(context.Background(), goodbye)
		defer cancel()
		_ = r.host.Close(ctx)
	}
	if r.gate != nil {
		ctx, cancel := context.WithTimeout(context.Background(), goodbye)
		defer cancel()
		r.gate.Close(ctx)
		_, _ = r.session.Close(ctx)
	}
	if r.silence != nil {
		r.silence()
	}
	for i := len(r.closer) - 1; i >= 0; i-- {
		r.closer[i]()
	}
}

// private makes a folder for this run alone, that is removed at its end: a
// plan file holds every value in clear, secrets included. After a kill -9 the
// next run removes it.
func (r *run) private(folder func() (*scratch.Folder, error)) (string, error) {
	dir, err := folder()
	if err != nil {
		return "", err
	}
	r.closer = append(r.closer, func() {
		if err := dir.Remove(); err != nil {
			r.log.Warn("private folder not removed", "error", err)
		}
	})
	return dir.Path(), nil
}
