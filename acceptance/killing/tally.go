// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package killing

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// Tally sums up rounds.
type Tally struct {
	// Kills counts the rounds that met their victim, Missed the others.
	Kills  int `json:"hits"`
	Missed int `json:"missed"`
	// Hot counts those while the cloud was at something.
	Hot int `json:"while_in_flight"`
	// Broken counts the rounds in which something was broken.
	Broken    int               `json:"broken"`
	Kinds     map[Kind]*Figures `json:"kinds"`
	Uncertain int               `json:"uncertain"`
	Read      int               `json:"settled_by_read"`
	Reported  int               `json:"settled_by_sender"`
	Open      int               `json:"open"`
	Rounds    map[int][]string  `json:"broken_rounds,omitempty"`

	bystander, rival, settled []float64
}

// Figures are those of one kind.
type Figures struct {
	Rounds  int            `json:"rounds"`
	Moments map[Moment]int `json:"moments"`
	// Statuses are the exit statuses of the victims.
	Statuses  map[int]int `json:"statuses"`
	Uncertain int         `json:"uncertain"`
	Settled   int         `json:"settled"`
	// HeldS is the longest time for which others were held up, in seconds.
	HeldS         float64 `json:"others_held_up_s"`
	LeftFolders   int     `json:"left_folders"`
	LeftProcesses int     `json:"left_processes"`
	Orphaned      int     `json:"orphaned"`
	Broken        int     `json:"broken"`
}

// TallyOf sums results up.
func TallyOf(results []Result) Tally {
	t := Tally{Kinds: make(map[Kind]*Figures), Rounds: make(map[int][]string)}
	for _, r := range results {
		t.add(r)
	}
	return t
}

func (t *Tally) add(r Result) {
	if !r.Killed {
		t.Missed++
		return
	}
	t.Kills++
	t.figures(r.Kind).add(r)
	t.Uncertain += r.Uncertain
	t.Read += r.Read
	t.Reported += r.Reported
	t.Open += r.Open
	if r.Read > 0 {
		t.settled = append(t.settled, r.SettledS)
	}
	if r.InFlight > 0 {
		t.Hot++
	}
	if len(r.Broken) > 0 {
		t.Broken++
		t.Rounds[r.Round] = r.Broken
	}
	t.bystander, t.rival = append(t.bystander, r.BystanderS), append(t.rival, r.RivalS)
}

func (t *Tally) figures(k Kind) *Figures {
	if t.Kinds[k] == nil {
		t.Kinds[k] = &Figures{Moments: make(map[Moment]int), Statuses: make(map[int]int)}
	}
	return t.Kinds[k]
}

func (f *Figures) add(r Result) {
	f.Rounds++
	f.Moments[r.Moment]++
	if r.Victim != "" {
		f.Statuses[r.Status]++
	}
	f.Uncertain += r.Uncertain
	f.Settled += r.Read + r.Reported
	f.HeldS = max(f.HeldS, r.BystanderS, r.RivalS)
	f.LeftFolders += r.LeftFolders
	f.LeftProcesses += r.LeftProcesses
	f.Orphaned += r.Orphaned
	if len(r.Broken) > 0 {
		f.Broken++
	}
}

// Write prints the tally for people.
func (t *Tally) Write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "kind\trounds\tmoments\tuncertain\tsettled\tothers held up\tleft folders\tleft processes\tbroken")
	for _, kind := range Kinds() {
		if f := t.Kinds[kind]; f != nil {
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%.2f s\t%d\t%d\t%d\n", kind, f.Rounds, len(f.Moments), f.Uncertain, f.Settled, f.HeldS, f.LeftFolders, f.LeftProcesses, f.Broken)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	w = tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "rounds in all\t%d, %d while the cloud was at something; in %d more the victim was faster\n", t.Kills, t.Hot, t.Missed)
	fmt.Fprintf(w, "outcomes unknown for a while\t%d: %d settled by a read, %d by the sender, %d left open\n", t.Uncertain, t.Read, t.Reported, t.Open)
	fmt.Fprintf(w, "from blow and end to the read\tp50 %.2f s, at most %.2f s\n", lab.Percentile(t.settled, 0.5), lab.Percentile(t.settled, 1))
	fmt.Fprintf(w, "bystanders held up\tp50 %.2f s, at most %.2f s (limit %.0f s)\n", lab.Percentile(t.bystander, 0.5), lab.Percentile(t.bystander, 1), resumeLimit.Seconds())
	fmt.Fprintf(w, "rivals held up\tp50 %.2f s, at most %.2f s\n", lab.Percentile(t.rival, 0.5), lab.Percentile(t.rival, 1))
	fmt.Fprintf(w, "broken rounds\t%d\n", t.Broken)
	return w.Flush()
}
