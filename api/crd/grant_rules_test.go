package crd_test

import "testing"

// TestAdoptionGrantRules holds that no grant allows more than its author has written.
func TestAdoptionGrantRules(t *testing.T) {
	t.Parallel()
	a := admissionOf(t, "AdoptionGrant", "v1alpha1")
	const rest = "\naccounts: ['111122223333']\ngroups: [workers]"
	for _, c := range []ruleCase{
		{name: "a list", reason: "the usual grant", spec: "namespaces: {list: [team-a]}" + rest},
		{name: "a selector", reason: "namespaces by their labels", spec: "namespaces: {selector: {matchLabels: {team: a}}}" + rest},
		{name: "all namespaces", reason: "as identities have it", spec: "namespaces: {}" + rest},
		{name: "no namespaces", reason: "as identities have it: it grants nothing", spec: rest},
		{name: "every cloud", reason: "IDs as the clouds have them",
			spec: "accounts: ['111122223333', 8643025a-c059-4a48-85d0-d76f51d63a74, 'example.com:project-1']\ngroups: ['rg/c/*', default_workers]"},
		{name: "no accounts", reason: "one forgotten field must not be all accounts", spec: "groups: ['*']",
			refused: []string{"spec.accounts", "Required value"}},
		{name: "empty accounts", reason: "none is not all", spec: "accounts: []\ngroups: ['*']",
			refused: []string{"spec.accounts", "should have at least 1 items"}},
		{name: "any account", reason: "accounts are exact", spec: "accounts: ['*']\ngroups: [workers]",
			refused: []string{"spec.accounts[0]", "*"}},
		{name: "an account in upper case", reason: "it would never match", spec: "accounts: [8643025A]\ngroups: [workers]",
			refused: []string{"spec.accounts[0]", "8643025A"}},
		{name: "no groups", reason: "one forgotten field must not be all groups", spec: "accounts: ['1']",
			refused: []string{"spec.groups", "Required value"}},
		{name: "empty groups", reason: "none is not all", spec: "accounts: ['1']\ngroups: []",
			refused: []string{"spec.groups", "should have at least 1 items"}},
		{name: "an empty pattern", reason: "it would never match", spec: "accounts: ['1']\ngroups: ['']",
			refused: []string{"spec.groups[0]", "1 chars"}},
		{name: "a class of characters", reason: "only * has a meaning", spec: "accounts: ['1']\ngroups: ['workers-[ab]']",
			refused: []string{"spec.groups[0]", "should match"}},
		{name: "a misspelt field", reason: "what is left would be all namespaces", spec: "namespaces: {lists: [team-a]}" + rest,
			refused: []string{"spec.namespaces.lists", "unknown field"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			compare(t, c.reason, a.admit(object(t, kindText("AdoptionGrant", "v1alpha1", c.spec)), nil), c.refused)
		})
	}
}
