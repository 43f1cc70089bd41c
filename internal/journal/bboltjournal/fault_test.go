// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package bboltjournal

import (
	"path/filepath"
	"reflect"
	"unsafe"

	"go.etcd.io/bbolt"
)

// writeAt is how bbolt writes pages.
type writeAt = func(b []byte, off int64) (int, error)

// interpose puts a function between bbolt and its file. bbolt keeps the place
// for that to itself; a test that finds it gone panics.
func interpose(db *bbolt.DB, wrap func(write writeAt) writeAt) {
	field := reflect.ValueOf(db).Elem().FieldByName("ops").FieldByName("writeAt")
	write := (*writeAt)(unsafe.Pointer(field.UnsafeAddr()))
	*write = wrap(*write)
}

// temporaries are the files beside the journal that a crash may leave.
func temporaries(j *Journal) ([]string, error) {
	return filepath.Glob(j.Path() + temporaryMark + "*")
}
