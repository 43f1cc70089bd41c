// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/identity"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// status prints who is doing what.
func (a *App) status(ctx context.Context, w arguments.Weaver, c statusCommand) error {
	s, err := a.fetch(ctx, w)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(a.Stdout, s)
	}
	_, err = io.WriteString(a.Stdout, views.StatusText(s))
	return err
}

// locks prints what is held.
func (a *App) locks(ctx context.Context, w arguments.Weaver, c locksCommand) error {
	s, err := a.fetch(ctx, w)
	if err != nil {
		return err
	}
	if s.Epoch == 0 && !c.JSON {
		_, err = fmt.Fprintf(a.Stdout, "Nothing has been coordinated for this user on %s yet.\n", s.Host)
		return err
	}
	if c.JSON {
		return writeJSON(a.Stdout, views.AllLocks(s))
	}
	_, err = io.WriteString(a.Stdout, views.LocksText(s))
	return err
}

func (a *App) fetch(ctx context.Context, w arguments.Weaver) (coordinator.Status, error) {
	conn, err := a.find(ctx, w)
	if err != nil || conn == nil {
		return coordinator.Status{Host: a.System.Host}, err
	}
	defer conn.Close()
	s, err := conn.Status(ctx)
	if err != nil {
		return s, &connectError{Address: w.Coordinator, Err: err, Asking: true}
	}
	return s, nil
}

// report prints what was in the way of whom.
func (a *App) report(ctx context.Context, w arguments.Weaver, c reportCommand) error {
	r := coordinator.Report{Host: a.System.Host, Items: []coordinator.ReportItem{}}
	conn, err := a.find(ctx, w)
	if err != nil {
		return err
	}
	if conn != nil {
		defer conn.Close()
		if r, err = conn.Report(ctx); err != nil {
			return &connectError{Address: w.Coordinator, Err: err, Asking: true}
		}
	}
	if c.JSON {
		return writeJSON(a.Stdout, r)
	}
	_, err = io.WriteString(a.Stdout, views.ReportText(r))
	return err
}

// why explains one transaction.
func (a *App) why(ctx context.Context, w arguments.Weaver, c whyCommand) error {
	conn, err := a.running(ctx, w)
	if err != nil {
		return err
	}
	defer conn.Close()
	report, status, err := conn.Explain(ctx, admission.TxID(c.ID))
	if err != nil {
		return &failedError{What: "Cannot explain " + c.ID, Err: err, Remedy: a.elsewhere(w, err)}
	}
	if c.JSON {
		return writeJSON(a.Stdout, report)
	}
	_, err = io.WriteString(a.Stdout, views.WhyText(report, status))
	return err
}

// resolve records what a person found out about a lost outcome.
func (a *App) resolve(ctx context.Context, w arguments.Weaver, c resolveCommand) error {
	conn, err := a.running(ctx, w)
	if err != nil {
		return err
	}
	defer conn.Close()
	actor := identity.Resolve(a.Env, a.System, "").Actor
	if err := conn.Resolve(ctx, admission.TxID(c.ID), actor, c.Reason, c.Exists); err != nil {
		return a.unresolved(ctx, w, conn, c.ID, err)
	}
	fate := "not there"
	if c.Exists {
		fate = "there"
	}
	_, err = fmt.Fprintf(a.Stdout, "%s is settled: the object is %s, says %s (%s). Its locks are free.\n", c.ID, fate, actor, c.Reason)
	return err
}

// unresolved says why there is nothing to settle, where that is so.
func (a *App) unresolved(ctx context.Context, w arguments.Weaver, conn *client.Client, id string, cause error) error {
	failed := &failedError{What: "Cannot resolve " + id, Err: cause, Remedy: a.elsewhere(w, cause)}
	if !errors.Is(cause, admission.ErrStatus) {
		return failed
	}
	report, status, err := conn.Explain(ctx, admission.TxID(id))
	if err != nil {
		return failed
	}
	failed.Err = errors.New("its outcome is not in question")
	failed.Remedy = views.OneLine(report)
	if status.Final() {
		failed.Remedy += "\n\nIt is settled, and holds nothing. There is nothing to do."
	} else {
		failed.Remedy += "\n\nIts own run will tell how it ends. There is nothing to do as long as that lives."
	}
	return failed
}

// elsewhere says of a transaction that is not known who was asked, and where else
// to look; it is empty for other errors.
func (a *App) elsewhere(w arguments.Weaver, cause error) string {
	if !errors.Is(cause, admission.ErrNoTx) {
		return ""
	}
	asked := "The coordinator of this user on " + a.System.Host
	if w.Coordinator != "" {
		asked = fmt.Sprintf("The coordinator at %s, which %s names,", w.Coordinator, w.From["coordinator"])
	}
	return asked + " was asked. Finished transactions are forgotten after a while: \"tfweaver status\" lists what is going on, \"tfweaver report\" what was delayed or refused. " +
		"One of another coordinator is found with -weaver-coordinator=ADDR."
}

// running is the coordinator that knows of a transaction.
func (a *App) running(ctx context.Context, w arguments.Weaver) (*client.Client, error) {
	conn, err := a.find(ctx, w)
	if err == nil && conn == nil {
		err = &failedError{What: "No such transaction", Err: fmt.Errorf("nothing has been coordinated for this user on %s yet", a.System.Host)}
	}
	return conn, err
}

func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
