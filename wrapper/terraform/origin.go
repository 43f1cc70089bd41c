// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package terraform

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

// place is what says where a backend of one type keeps its state: settings, and
// the variables of the environment that stand in for one that is not set. All
// others (who asks, how often, over which proxy, with which lock) may differ
// between those who work on one state.
type place map[string][]string

// places are the backends whose settings are known. From the documentation of
// each.
func places(backend string) place {
	switch backend {
	case "azurerm":
		return place{"storage_account_name": nil, "container_name": nil, "key": nil}
	case "consul":
		return place{"address": {"CONSUL_HTTP_ADDR"}, "path": nil, "datacenter": nil}
	case "cos":
		return place{"bucket": nil, "prefix": nil, "key": nil, "region": {"TENCENTCLOUD_REGION"}}
	case "gcs":
		return place{"bucket": nil, "prefix": nil, "storage_custom_endpoint": {"GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT", "GOOGLE_STORAGE_CUSTOM_ENDPOINT"}}
	case "http":
		return place{"address": {"TF_HTTP_ADDRESS"}}
	case "kubernetes":
		return place{
			"secret_suffix": nil, "namespace": {"KUBE_NAMESPACE"}, "host": {"KUBE_HOST"},
			"config_context": {"KUBE_CTX"}, "config_context_cluster": {"KUBE_CTX_CLUSTER"},
		}
	case "pg":
		return place{"conn_str": {"PG_CONN_STR"}, "schema_name": {"PG_SCHEMA_NAME"}}
	case "s3":
		return place{
			"bucket": nil, "key": nil, "workspace_key_prefix": nil,
			"endpoint": {"AWS_ENDPOINT_URL_S3", "AWS_S3_ENDPOINT"}, "endpoints": nil,
		}
	default:
		return nil
	}
}

// located leaves of the settings what says where the state is. Of a backend that
// is not known it is all but credentials.
func (b backend) located(env arguments.Environment) backend {
	known := places(b.Type)
	if known == nil {
		return b
	}
	config := map[string]any{}
	for name, variables := range known {
		value := b.Config[name]
		for _, v := range variables {
			if value == nil || value == "" {
				value = env.Get(v)
			}
		}
		if value == nil || value == "" {
			continue
		}
		if nested, ok := value.(map[string]any); ok && name == "endpoints" {
			value = nested["s3"] // those of other services do not say where the state is
		}
		config[name] = value
	}
	return backend{Type: b.Type, Config: config}
}

// resolved is a path without symbolic links, as far as it exists: two ways to one
// file lead to one state.
func resolved(path string) string {
	dir, rest := path, ""
	for {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return filepath.Join(real, rest)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return path
		}
		dir, rest = up, filepath.Join(filepath.Base(dir), rest)
	}
}

// withoutSecrets leaves credentials out: they do not say where the state is,
// and a digest that changes with each new token would name another state.
func withoutSecrets(config map[string]any) map[string]any {
	out := make(map[string]any, len(config))
	for name, value := range config {
		if value == nil || isSecret(name) {
			continue
		}
		switch v := value.(type) {
		case map[string]any:
			value = withoutSecrets(v)
		case string:
			value = withoutUser(v)
		}
		out[name] = value
	}
	return out
}

// withoutUser drops the user and the password of a URL, and of a connection string
// of the form "host=db user=u password=p".
func withoutUser(value string) string {
	u, err := url.Parse(value)
	if err == nil && u.User != nil {
		u.User = nil
		return u.String()
	}
	if !strings.Contains(value, "password=") {
		return value
	}
	var kept []string
	for _, word := range strings.Fields(value) {
		if name, _, _ := strings.Cut(word, "="); name != "user" && name != "password" {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " ")
}

func isSecret(name string) bool {
	if name == "secret_suffix" {
		return false // the Kubernetes backend's name of the state
	}
	for _, part := range []string{
		"token", "password", "secret", "access_key", "encryption_key", "credential",
		"sas", "certificate", "private", "username", "profile", "session",
	} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
