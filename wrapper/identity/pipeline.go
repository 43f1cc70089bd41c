// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package identity

import (
	"strings"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

// pipeline is what the variables say that these platforms document. Those that
// run Terraform themselves come first: they may be driven by one of the others.
func pipeline(env arguments.Environment) Identity {
	switch {
	case env.Get("ATLANTIS_TERRAFORM_VERSION") != "" && env.Get("PULL_NUM") != "":
		return atlantis(env)
	case env.Get("TF_VAR_spacelift_run_id") != "":
		return spacelift(env)
	case env.Get("TFC_RUN_ID") != "":
		return hcp(env)
	case env.Get("GITHUB_ACTIONS") == "true":
		return github(env)
	case env.Get("GITLAB_CI") == "true":
		return gitlab(env)
	case env.Get("JENKINS_URL") != "" || (env.Get("BUILD_URL") != "" && env.Get("JOB_NAME") != ""):
		return jenkins(env)
	default:
		return Identity{}
	}
}

// first is the first text that is not empty.
func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// github: GitHub Actions. A re-run has its own actor and its own page.
func github(env arguments.Environment) Identity {
	id := Identity{
		Platform: "github", Actor: first(env.Get("GITHUB_TRIGGERING_ACTOR"), env.Get("GITHUB_ACTOR")),
		Repository: env.Get("GITHUB_REPOSITORY"), Branch: first(env.Get("GITHUB_HEAD_REF"), env.Get("GITHUB_REF_NAME")),
	}
	if workflow := env.Get("GITHUB_WORKFLOW"); workflow != "" {
		id.Title = "workflow " + workflow
	}
	// GITHUB_REF of a pull request is refs/pull/NUMBER/merge.
	rest, isPull := strings.CutPrefix(env.Get("GITHUB_REF"), "refs/pull/")
	number, _, _ := strings.Cut(rest, "/")
	if isPull {
		id.Change = "pull request " + number
	}
	server := env.Get("GITHUB_SERVER_URL")
	if server == "" || id.Repository == "" {
		return id
	}
	base := server + "/" + id.Repository
	if run := env.Get("GITHUB_RUN_ID"); run != "" {
		id.RunURL = base + "/actions/runs/" + run
		if attempt := env.Get("GITHUB_RUN_ATTEMPT"); attempt != "" && attempt != "1" {
			id.RunURL += "/attempts/" + attempt
		}
	}
	if isPull {
		id.Links = append(id.Links, base+"/pull/"+number)
	}
	return id
}

// gitlab: GitLab CI.
func gitlab(env arguments.Environment) Identity {
	id := Identity{
		Platform: "gitlab", Actor: env.Get("GITLAB_USER_LOGIN"), Repository: env.Get("CI_PROJECT_PATH"),
		Branch: first(env.Get("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"), env.Get("CI_COMMIT_REF_NAME")),
		Title:  env.Get("CI_MERGE_REQUEST_TITLE"), RunURL: first(env.Get("CI_JOB_URL"), env.Get("CI_PIPELINE_URL")),
	}
	request := env.Get("CI_MERGE_REQUEST_IID")
	if request != "" {
		id.Change = "merge request " + request
	}
	if project := env.Get("CI_MERGE_REQUEST_PROJECT_URL"); project != "" && request != "" {
		id.Links = append(id.Links, project+"/-/merge_requests/"+request)
	}
	if job := env.Get("CI_JOB_NAME"); id.Title == "" && id.Change == "" && job != "" {
		id.Title = "job " + job
	}
	return id
}

// jenkins: Jenkins, with the variables of multibranch projects and of the plugin
// that tells who started the build.
func jenkins(env arguments.Environment) Identity {
	id := Identity{
		Platform: "jenkins", Actor: first(env.Get("BUILD_USER_ID"), env.Get("CHANGE_AUTHOR")),
		Repository: repositoryName(first(env.Get("GIT_URL"), env.Get("GIT_URL_1"))),
		Branch:     first(env.Get("CHANGE_BRANCH"), env.Get("BRANCH_NAME"), strings.TrimPrefix(env.Get("GIT_BRANCH"), "origin/")),
		Title:      env.Get("CHANGE_TITLE"), RunURL: env.Get("BUILD_URL"),
	}
	if change := env.Get("CHANGE_ID"); change != "" {
		id.Change = "change " + change
	}
	if url := env.Get("CHANGE_URL"); url != "" {
		id.Links = append(id.Links, url)
	}
	if job := env.Get("JOB_NAME"); id.Title == "" && id.Change == "" && job != "" {
		id.Title = "job " + job
	}
	return id
}

// atlantis: custom workflow steps of Atlantis. Whoever commented acts, not
// whoever opened the request.
func atlantis(env arguments.Environment) Identity {
	id := Identity{
		Platform: "atlantis", Actor: first(env.Get("USER_NAME"), env.Get("PULL_AUTHOR")),
		Branch: env.Get("HEAD_BRANCH_NAME"), Change: "pull request " + env.Get("PULL_NUM"),
	}
	if owner, name := env.Get("BASE_REPO_OWNER"), env.Get("BASE_REPO_NAME"); owner != "" && name != "" {
		id.Repository = owner + "/" + name
	}
	if project := env.Get("PROJECT_NAME"); project != "" {
		id.Title = "project " + project
	}
	if url := env.Get("PULL_URL"); url != "" {
		id.Links = append(id.Links, url)
	}
	return id
}

// spacelift: Spacelift hands its values to Terraform as input variables.
func spacelift(env arguments.Environment) Identity {
	value := func(name string) string { return env.Get("TF_VAR_spacelift_" + name) }
	id := Identity{
		Platform: "spacelift", Actor: value("run_trigger"), Repository: value("repository"), Branch: value("commit_branch"),
	}
	stack := value("stack_id")
	if stack != "" {
		id.Title = "stack " + stack
	}
	if account := value("account_name"); account != "" && stack != "" {
		id.RunURL = "https://" + account + ".app.spacelift.io/stack/" + stack + "/run/" + value("run_id")
	}
	return id
}

// hcp: a run of HCP Terraform or Terraform Enterprise on one of its agents. It
// does not tell the agent who started it, so the workspace acts.
func hcp(env arguments.Environment) Identity {
	id := Identity{Platform: "hcp", Branch: env.Get("TFC_CONFIGURATION_VERSION_GIT_BRANCH")}
	organization, workspace, ok := strings.Cut(env.Get("TFC_WORKSPACE_SLUG"), "/")
	if !ok {
		workspace = env.Get("TFC_WORKSPACE_NAME")
		id.Actor = first(workspace, "hcp-terraform")
		return id
	}
	id.Actor = organization + "/" + workspace
	id.Title = "workspace " + workspace
	id.RunURL = hcpAddress(env) + "/app/" + organization + "/workspaces/" + workspace + "/runs/" + env.Get("TFC_RUN_ID")
	return id
}

// hcpAddress is where the agent gets its work from.
func hcpAddress(env arguments.Environment) string {
	if address := env.Get("TFC_ADDRESS"); strings.HasPrefix(address, "https://") {
		return strings.TrimSuffix(address, "/")
	}
	if host := env.Get("TF_CLOUD_HOSTNAME"); host != "" {
		return "https://" + host
	}
	return "https://app.terraform.io"
}
