package seed

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSubstitute(t *testing.T) {
	vars := FromMap(map[string]string{"ZONE": "eu-west-1a", "EMPTY": "", "N": "3"})
	for _, tc := range []struct {
		reason, in, want string
		missing          []string
		err              string
	}{
		{reason: "a variable has its value, quoted or not", in: `- "${ZONE}" ${ZONE}`, want: `- "eu-west-1a" eu-west-1a`},
		{reason: "blanks inside the braces are an old spelling", in: `${ ZONE } ${ZONE } ${ ZONE}`, want: `eu-west-1a eu-west-1a eu-west-1a`},
		{reason: "a value beats a default", in: `${N:=1} ${N:-1} ${N=1}`, want: `3 3 3`},
		{reason: "a default stands in for no value", in: `${COUNT:=1} ${COUNT:-2} ${COUNT=4}`, want: `1 2 4`},
		{reason: "a default stands in for an empty value", in: `${EMPTY:=1}`, want: `1`},
		{reason: "an empty value without a default is a value", in: `[${EMPTY}]`, want: `[]`},
		{reason: "a default may hold another variable", in: `${A:=${ZONE}-x}`, want: `eu-west-1a-x`},
		{reason: "a default may hold blanks and colons", in: `${A:=arn:aws:iam::1:role/x y}`, want: `arn:aws:iam::1:role/x y`},
		{reason: "the names that are missing come together, once each, sorted", in: `${B} ${A} ${B}`, missing: []string{"A", "B"}},
		{reason: "an empty default is none, as clusterctl has it", in: `${A:=}`, missing: []string{"A"}},
		{reason: "a variable inside a default may be empty", in: `[${A:=${B}}]`, want: `[]`},
		{reason: "a variable inside a default that is not needed is not", in: `${N:=${B}}`, want: `3`},
		{reason: "a dollar without a brace belongs to the manifest", in: `echo $HOME $1 {x}`, want: `echo $HOME $1 {x}`},
		{reason: "two dollars are one, so that a brace can be kept", in: `$${ZONE}`, want: `${ZONE}`},
		{reason: "jinja is not ours", in: `'{{ ds.meta_data.local_hostname }}'`, want: `'{{ ds.meta_data.local_hostname }}'`},
		{reason: "an open brace is found", in: "a\nb: ${ZONE", err: "missing closing brace"},
		{reason: "what clusterctl's grammar has beyond defaults works as well", in: `${ZONE//-/.} ${ZONE^^}`, want: `eu.west.1a EU-WEST-1A`},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got, missing, err := Substitute(tc.in, vars)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("error: want %q, got %v", tc.err, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("want no error, got %v", err)
			}
			if diff := cmp.Diff(tc.missing, missing,
				cmp.Transformer("empty", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
				t.Fatalf("missing (-want +got):\n%s", diff)
			}
			if len(tc.missing) == 0 && got != tc.want {
				t.Fatalf("want %q, got %q", tc.want, got)
			}
		})
	}
}
