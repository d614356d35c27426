// Package doctor compares a management cluster with what Muster needs: an installation in, findings out. It reads nothing itself;
// package gather does.
package doctor

// Severity classifies a finding by the action that it needs.
type Severity string

const (
	// OK needs no action.
	OK Severity = "OK"
	// Warning works today and may fail later, or is not finished yet.
	Warning Severity = "WARNING"
	// Problem keeps Muster from running pools as specified.
	Problem Severity = "PROBLEM"
	// Unchecked could not be read, or cannot be read without writing.
	Unchecked Severity = "NOT CHECKED"
)

// Finding is one fact about one object. Its JSON form is part of Report's.
type Finding struct {
	Severity Severity `json:"severity"`
	// Check is the name of the check, as docs/doctor.md lists them.
	Check string `json:"check"`
	// Object is the kind and the name, with the namespace where it has one.
	Object string `json:"object"`
	Fact   string `json:"fact"`
	// Action is the next step for the user; empty if there is nothing to do.
	Action string `json:"action,omitempty"`
}

// APIVersion and ReportKind begin the JSON form of a Report. Fields are added to it, never renamed or removed.
const (
	APIVersion = "doctor.muster.dev/v1"
	ReportKind = "Report"
)

// Report holds the findings. Its JSON form is the output of "muster doctor -o json".
type Report struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Problems   int       `json:"problems"`
	Warnings   int       `json:"warnings"`
	Unchecked  int       `json:"unchecked"`
	Findings   []Finding `json:"findings"`
}

// The names of the checks.
const (
	CheckCore        = "core"
	CheckManager     = "manager"
	CheckDefinitions = "definitions"
	CheckControllers = "controllers"
	CheckGates       = "gates"
	CheckWebhooks    = "webhooks"
	CheckRights      = "rights"
	CheckCredentials = "credentials"
	CheckPermissions = "permissions"
	CheckPools       = "pools"
	CheckPolicies    = "policies"
)

// checks are in the order in which their findings are printed: what later ones rest on comes first.
var checks = []struct {
	name string
	run  func(Installation) []Finding
}{
	{CheckCore, core},
	{CheckManager, manager},
	{CheckDefinitions, definitions},
	{CheckControllers, controllers},
	{CheckGates, gates},
	{CheckWebhooks, webhooks},
	{CheckRights, rights},
	{CheckCredentials, credentials},
	{CheckPermissions, permissions},
	{CheckPools, pools},
	{CheckPolicies, policies},
}

// Examine runs all checks. If the facts of a check could not be read, it returns one finding that reports this.
func Examine(f Installation) Report {
	r := Report{APIVersion: APIVersion, Kind: ReportKind, Findings: []Finding{}}
	for _, c := range checks {
		found := unread(f.Unread[c.name])
		if found == nil {
			found = c.run(f)
		}
		for _, one := range found {
			one.Check = c.name
			r.add(one)
		}
	}
	return r
}

func (r *Report) add(f Finding) {
	switch f.Severity {
	case OK:
	case Warning:
		r.Warnings++
	case Problem:
		r.Problems++
	case Unchecked:
		r.Unchecked++
	}
	r.Findings = append(r.Findings, f)
}

// unread returns the finding of a check whose part could not be read; nil if there is no error.
func unread(err string) []Finding {
	if err == "" {
		return nil
	}
	return []Finding{{Severity: Unchecked, Object: "Management cluster", Fact: err,
		Action: "run muster doctor as a user who may read this"}}
}

func okay(object, fact string) Finding { return Finding{Severity: OK, Object: object, Fact: fact} }

func warning(object, fact, action string) Finding {
	return Finding{Severity: Warning, Object: object, Fact: fact, Action: action}
}

func problem(object, fact, action string) Finding {
	return Finding{Severity: Problem, Object: object, Fact: fact, Action: action}
}

func unchecked(object, fact, action string) Finding {
	return Finding{Severity: Unchecked, Object: object, Fact: fact, Action: action}
}
