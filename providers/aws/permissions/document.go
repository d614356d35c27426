package permissions

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode"
)

// Limit is the maximum number of characters of a managed policy of IAM, without white space.
const Limit = 6144

// Document is a policy as IAM takes it.
type Document struct {
	Version   string      `json:"Version"`
	Statement []Statement `json:"Statement"`
}

// Statement is one statement of a Document.
type Statement struct {
	Sid       string     `json:"Sid"`
	Effect    string     `json:"Effect"`
	Action    []string   `json:"Action"`
	Resource  []string   `json:"Resource"`
	Condition Conditions `json:"Condition,omitempty"`
}

// policyVersion is the version of the policy language.
const policyVersion = "2012-10-17"

// Documents are the grants as policies, each within the Limit: one, unless a great many names were given.
func Documents(o Options) ([]Document, error) {
	grants, err := Grants(o)
	if err != nil {
		return nil, err
	}
	var all []Document
	for _, g := range grants {
		alone := Document{Version: policyVersion, Statement: []Statement{statement(g)}}
		if size, err := Size(alone); err != nil || size > Limit {
			return nil, errors.Join(err, fmt.Errorf(
				"statement %s alone has %d characters, and a policy of IAM holds %d: give fewer names, or patterns", g.Name, size, Limit))
		}
		if len(all) == 0 {
			all = append(all, alone)
			continue
		}
		last := &all[len(all)-1]
		longer := Document{Version: policyVersion, Statement: append(slices.Clone(last.Statement), alone.Statement...)}
		size, err := Size(longer)
		if err != nil {
			return nil, err
		}
		if size > Limit {
			all = append(all, alone)
			continue
		}
		*last = longer
	}
	return all, nil
}

func statement(g Grant) Statement {
	return Statement{Sid: g.Name, Effect: "Allow", Action: g.Names(), Resource: g.Resources, Condition: g.Conditions}
}

// Size returns the number of characters of a document that count for the Limit.
func Size(d Document) (int, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return 0, fmt.Errorf("encode the policy: %w", err)
	}
	size := 0
	for _, r := range string(text) {
		if !unicode.IsSpace(r) {
			size++
		}
	}
	return size, nil
}
