// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package validation

import (
	"math"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// Result is what one validation found, in the form of result.json.
type Result struct {
	Scale    float64  `json:"scale"`
	Seed     uint64   `json:"seed"`
	Policies []Figure `json:"policies"`
}

// Figure is what the activity log says about one policy.
type Figure struct {
	Name string `json:"name"`
	// MakespanS is the time from the start of the first operation to the end of
	// the last, in seconds of the cloud.
	MakespanS float64 `json:"makespan_s"`
	// CriticalPathS is the shortest time in which the operations that the cloud
	// accepted could have been done, see CriticalPath.
	CriticalPathS float64 `json:"critical_path_s"`
	// OK counts the operations that succeeded, Total the distinct objects that
	// were to be written.
	OK    int `json:"ok"`
	Total int `json:"total"`
	// RefusedAtCloud counts the calls that the cloud refused.
	RefusedAtCloud int `json:"refused_at_cloud"`
}

// Measure computes the figure of a policy from its log.
func Measure(name string, log activity.Log) Figure {
	return Figure{
		Name:           name,
		MakespanS:      seconds(log.Makespan()),
		CriticalPathS:  seconds(CriticalPath(log)),
		OK:             log.Succeeded(),
		Total:          len(objects(log)),
		RefusedAtCloud: len(log.Refused),
	}
}

// objects are the ids that writes were aimed at, refused ones included.
func objects(log activity.Log) map[string]bool {
	ids := make(map[string]bool)
	for _, o := range log.Operations {
		ids[strings.ToLower(o.ObjectID)] = true
	}
	for _, e := range log.Refused {
		ids[strings.ToLower(e.ObjectID)] = true
	}
	return ids
}

// CriticalPath is the longest chain of accepted operations that cannot overlap:
// a child starts after its parent, and all subnets of one network follow one
// another because each is a write of the network. The durations are those of the
// log, so first-call extras and seeds are in it.
func CriticalPath(log activity.Log) time.Duration {
	var longest time.Duration
	for _, o := range log.Operations {
		if lastSegment(o.ObjectType) == "resourceGroups" {
			longest = max(longest, o.Duration()+longestNetwork(log, o.ObjectID))
		}
	}
	return longest
}

// longestNetwork is the longest chain of a network and its subnets in a group.
func longestNetwork(log activity.Log, group string) time.Duration {
	var longest time.Duration
	for _, o := range log.Operations {
		if lastSegment(o.ObjectType) == "virtualNetworks" && contains(group, o.ObjectID) {
			longest = max(longest, o.Duration()+allSubnets(log, o.ObjectID))
		}
	}
	return longest
}

func allSubnets(log activity.Log, network string) time.Duration {
	var sum time.Duration
	for _, o := range log.Operations {
		if lastSegment(o.ObjectType) == "subnets" && contains(network, o.ObjectID) {
			sum += o.Duration()
		}
	}
	return sum
}

// contains reports whether an id is that of something below a container; ids are
// compared as the cloud does, without regard to case.
func contains(container, id string) bool {
	inner, err := arm.ParseID(id)
	if err != nil {
		return false
	}
	for parent, ok := inner.Parent(); ok; parent, ok = parent.Parent() {
		if parent.Key() == strings.ToLower(container) {
			return true
		}
	}
	return false
}

func lastSegment(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// seconds rounds to milliseconds: the log has no more to say.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }
