// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package statelock

import (
	"fmt"
	"path"

	"github.com/tfweaver/tfweaver/wrapper/terraform"
)

// elsewhere is the sentence about a backend that is not asked: its lock lies in
// a service that needs credentials and a client of its own. Most of them show the
// holder's data to who cannot get the lock, so the CLI's own message names it.
func elsewhere(w terraform.Workdir, settings map[string]any) error {
	shown := "The Lock Info of the CLI is that of the holder."
	name := func(key string) string {
		if text, ok := settings[key].(string); ok && text != "" {
			return printable(text)
		}
		return "the configured " + key
	}
	switch w.Backend {
	case "s3":
		return unknownf("%s It is kept in s3://%s, in %s%s.", shown, name("bucket"), path.Join(s3Folder(w, name), name("key"))+".tflock", dynamo(settings, name))
	case "gcs":
		return unknownf("%s It is kept in %s.", shown, "gs://"+path.Join(name("bucket"), text(settings, "prefix"), w.Workspace+".tflock"))
	case "azurerm":
		return unknownf("%s The lock is the lease of the blob %s in the container %s of %s.", shown, name("key"), name("container_name"), name("storage_account_name"))
	case "consul":
		return unknownf("%s It is kept in the key %s/.lockinfo of Consul.", shown, name("path"))
	case "kubernetes":
		return unknownf("%s The lock is the Lease lock-tfstate-%s-%s: look with \"kubectl get lease\".", shown, w.Workspace, name("secret_suffix"))
	case "cos", "oss":
		return unknownf("%s It lies beside the state, in a file that ends in .tflock, or in the table of locks.", shown)
	case "pg":
		return unknownf("The pg backend keeps no data about the holder, and the Lock Info of the CLI is your own: "+
			"look into pg_stat_activity for the session with the advisory lock (pg_locks, locktype 'advisory') in the schema %s.", schema(settings))
	case "remote", "cloud":
		return unknownf("The workspace's page in HCP Terraform says which run or who has locked it; the Lock Info of the CLI may be your own.")
	default:
		return unknownf("The backend %q cannot be asked who holds the lock; the Lock Info of the CLI may be your own.", printable(w.Backend))
	}
}

func text(settings map[string]any, key string) string {
	value, _ := settings[key].(string)
	return printable(value)
}

// s3Folder is where workspaces other than the default one are kept.
func s3Folder(w terraform.Workdir, name func(string) string) string {
	if w.Workspace == terraform.DefaultWorkspace {
		return ""
	}
	if prefix := name("workspace_key_prefix"); prefix != "the configured workspace_key_prefix" {
		return path.Join(prefix, w.Workspace)
	}
	return path.Join("env:", w.Workspace)
}

func dynamo(settings map[string]any, name func(string) string) string {
	if text(settings, "dynamodb_table") == "" {
		return ""
	}
	return fmt.Sprintf(", or in the DynamoDB table %s", name("dynamodb_table"))
}

func schema(settings map[string]any) string {
	if name := text(settings, "schema_name"); name != "" {
		return name
	}
	return "terraform_remote_state"
}
