// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"math/rand/v2"
	"time"
)

// Fault is one way in which something goes wrong.
type Fault string

// The faults of the network between processes.
const (
	NetDrop      Fault = "net drop"
	NetDelay     Fault = "net delay"
	NetDuplicate Fault = "net duplicate"
	// NetReorder is counted when a message overtakes an earlier one.
	NetReorder   Fault = "net reorder"
	NetPartition Fault = "net partition"
)

// The faults between a plugin and the cloud, and in the cloud.
const (
	CloudDropRequest Fault = "cloud drop request"
	CloudDropAnswer  Fault = "cloud drop answer"
	CloudDelay       Fault = "cloud delay"
	CloudDuplicate   Fault = "cloud duplicate"
	CloudPartition   Fault = "cloud partition"
	CloudThrottle    Fault = "cloud 429"
	CloudConflict    Fault = "cloud 409"
	// CloudErrorBefore and CloudErrorAfter are a 500 without and with an effect.
	CloudErrorBefore Fault = "cloud 500 before"
	CloudErrorAfter  Fault = "cloud 500 after"
	CloudSlow        Fault = "cloud slow"
	CloudFail        Fault = "cloud operation failed"
	// LateRetry is counted when a plugin sends again after its wrapper died.
	LateRetry Fault = "late retry"
)

// The faults of machines and processes.
const (
	ClockForward  Fault = "clock forward"
	ClockBack     Fault = "clock back"
	Suspend       Fault = "machine suspended"
	ServerSuspend Fault = "coordinator suspended"
	ServerCrash   Fault = "coordinator crash"
	// TakeOver makes another coordinator lead although the leader lives.
	TakeOver    Fault = "take-over"
	WrapperKill Fault = "wrapper killed"
	// PluginSurvives is a WrapperKill that the plugin outlives.
	PluginSurvives Fault = "plugin survives"
	PluginKill     Fault = "plugin killed"
)

// The faults of the journal.
const (
	JournalLost    Fault = "append unknown, lost"
	JournalWritten Fault = "append unknown, written"
	JournalFull    Fault = "journal full"
	// JournalTorn is a crash in the middle of an append, of which nothing stays.
	JournalTorn Fault = "append torn"
	// JournalCut is a crash behind an append that nobody was told of.
	JournalCut Fault = "append cut"
	// JournalFenced is counted when a deposed leader is refused.
	JournalFenced   Fault = "append fenced"
	JournalUnread   Fault = "journal read fails"
	SnapshotUnsaved Fault = "snapshot not saved"
)

// Faults lists every kind, in the order of reports.
func Faults() []Fault {
	return []Fault{
		NetDrop, NetDelay, NetDuplicate, NetReorder, NetPartition,
		CloudDropRequest, CloudDropAnswer, CloudDelay, CloudDuplicate, CloudPartition, CloudThrottle,
		CloudConflict, CloudErrorBefore, CloudErrorAfter, CloudSlow, CloudFail, LateRetry,
		ClockForward, ClockBack, Suspend, ServerSuspend, ServerCrash, TakeOver, WrapperKill, PluginSurvives, PluginKill,
		JournalLost, JournalWritten, JournalFull, JournalTorn, JournalCut, JournalFenced, JournalUnread, SnapshotUnsaved,
	}
}

// rates are how likely each fault is at each occasion, or for those that come by
// themselves (see chaos.go), how often: per minute.
type rates map[Fault]float64

// heaviest are the rates at their worst. A kind that is only counted has none.
func heaviest() rates {
	return rates{
		NetDrop: 0.1, NetDelay: 0.2, NetDuplicate: 0.1, NetPartition: 0.8,
		CloudDropRequest: 0.2, CloudDropAnswer: 0.2, CloudDelay: 0.2, CloudDuplicate: 0.06, CloudPartition: 0.5,
		CloudThrottle: 0.1, CloudConflict: 0.02, CloudErrorBefore: 0.06, CloudErrorAfter: 0.06, CloudSlow: 0.1, CloudFail: 0.04,
		ClockForward: 0.5, ClockBack: 0.5, Suspend: 0.8, ServerSuspend: 0.6, ServerCrash: 1, TakeOver: 0.8,
		WrapperKill: 2, PluginKill: 0.4, PluginSurvives: 0.7,
		JournalLost: 0.01, JournalWritten: 0.01, JournalFull: 0.006, JournalTorn: 0.006, JournalCut: 0.01,
		JournalUnread: 0.1, SnapshotUnsaved: 0.3,
	}
}

// drawRates chooses which faults a run has, and how many of them: some runs have
// few kinds, so that they get far, and others everything at once.
func drawRates(r *rand.Rand) rates {
	all, level, share := heaviest(), 0.2+0.8*r.Float64(), r.Float64()
	drawn := rates{}
	for _, f := range Faults() {
		if x, ok := all[f]; ok && r.Float64() < share {
			drawn[f] = x * level
		}
	}
	return drawn
}

// strikes says whether a fault happens at this occasion, and counts it.
func (w *World) strikes(f Fault) bool {
	if w.calm || w.rates[f] == 0 || w.rng.Float64() >= w.rates[f] {
		return false
	}
	w.count(f)
	return true
}

func (w *World) count(f Fault) { w.faults[f]++ }

// between draws a duration.
func (w *World) between(low, high time.Duration) time.Duration {
	return low + time.Duration(w.rng.Int64N(int64(high-low)+1))
}
