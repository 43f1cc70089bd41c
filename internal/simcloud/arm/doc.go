// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package arm holds the wire vocabulary that the simulated cloud shares with
// its clients: resource kinds, hierarchical ids in the manner of Azure Resource
// Manager, the JSON form of a resource and the JSON form of an error.
//
// The package is data and parsing only. It knows neither the engine of the
// cloud nor HTTP clients, so that both sides can import it.
package arm
