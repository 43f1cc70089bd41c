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
	// Kills counts the rounds that met their target, Missed the others.
	Kills  int `json:"kills"`
	Missed int `json:"missed"`
	// Hot counts the kills while the cloud was at something.
	Hot int `json:"while_in_flight"`
	// Broken counts the rounds in which something was broken.
	Broken    int              `json:"broken"`
	ByTarget  map[Target]int   `json:"kills_by_target"`
	Uncertain int              `json:"uncertain"`
	Read      int              `json:"settled_by_read"`
	Reported  int              `json:"settled_by_sender"`
	Open      int              `json:"open"`
	LeftFiles int              `json:"left_files"`
	Rounds    map[int][]string `json:"broken_rounds,omitempty"`

	bystander, rival, settled []float64
}

// TallyOf sums results up.
func TallyOf(results []Result) Tally {
	t := Tally{ByTarget: make(map[Target]int), Rounds: make(map[int][]string)}
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
	t.ByTarget[r.Target]++
	t.Uncertain += r.Uncertain
	t.Read += r.Read
	t.Reported += r.Reported
	t.Open += r.Open
	t.LeftFiles += r.LeftFiles
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

// Write prints the tally for people.
func (t *Tally) Write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, target := range Targets() {
		fmt.Fprintf(w, "kills of a %s\t%d\n", target, t.ByTarget[target])
	}
	fmt.Fprintf(w, "kills in all\t%d, %d while the cloud was at something; %d rounds had nothing to kill\n", t.Kills, t.Hot, t.Missed)
	fmt.Fprintf(w, "outcomes unknown for a while\t%d: %d settled by a read, %d by the sender, %d left open\n", t.Uncertain, t.Read, t.Reported, t.Open)
	fmt.Fprintf(w, "from kill and end to the read\tp50 %.2f s, at most %.2f s\n", lab.Percentile(t.settled, 0.5), lab.Percentile(t.settled, 1))
	fmt.Fprintf(w, "bystanders held up\tp50 %.2f s, at most %.2f s (limit %.0f s)\n", lab.Percentile(t.bystander, 0.5), lab.Percentile(t.bystander, 1), resumeLimit.Seconds())
	fmt.Fprintf(w, "rivals held up\tp50 %.2f s, at most %.2f s\n", lab.Percentile(t.rival, 0.5), lab.Percentile(t.rival, 1))
	fmt.Fprintf(w, "files of sockets left by killed processes\t%d\n", t.LeftFiles)
	fmt.Fprintf(w, "broken rounds\t%d\n", t.Broken)
	return w.Flush()
}
