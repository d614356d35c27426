package permissions

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// all is every option switched on.
func all() Options {
	return Options{EKS: true, EKSIAM: true, EKSAddRoles: true, Bucket: "cluster-api-provider-aws-data", NodeRoles: []string{"nodes"},
		AssumeRoles: []string{"arn:aws:iam::210987654321:role/tenant"}}
}

// TestDocument holds the documents word by word: who has given them to an account must be told when they change. Set
// UPDATE_GOLDEN=1 to write them anew.
func TestDocument(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"default":    {EKS: true},
		"groups":     {},
		"everything": all(),
		"china":      {Partition: "aws-cn", EKS: true, EKSIAM: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			documents, err := Documents(o)
			if err != nil {
				t.Fatal(err)
			}
			if len(documents) != 1 {
				t.Fatalf("want one document, got %d", len(documents))
			}
			size, err := Size(documents[0])
			if err != nil || size > Limit {
				t.Errorf("want at most %d characters, got %d, %v", Limit, size, err)
			}
			text, err := json.MarshalIndent(documents[0], "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+".json")
			if os.Getenv("UPDATE_GOLDEN") != "" {
				if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimSpace(string(want)), string(text)); diff != "" {
				t.Errorf("the document changed: those who use it must be told (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGrants holds what is true of every grant.
func TestGrants(t *testing.T) {
	t.Parallel()
	grants, err := Grants(all())
	if err != nil {
		t.Fatal(err)
	}
	letters, action := regexp.MustCompile(`^[A-Za-z0-9]+$`), regexp.MustCompile(`^[a-z0-9]+:[A-Z][A-Za-z]+$`)
	reads := regexp.MustCompile(`:(Describe|Get|List)`)
	names := map[string]bool{}
	for _, g := range grants {
		if !letters.MatchString(g.Name) || names[g.Name] {
			t.Errorf("want names of letters alone, each once, got %q", g.Name)
		}
		names[g.Name] = true
		if len(g.Resources) == 0 || len(g.Actions) == 0 {
			t.Errorf("%s: want resources and actions", g.Name)
		}
		for _, a := range g.Actions {
			if !action.MatchString(a.Name) || a.Why == "" {
				t.Errorf("%s: want an action without patterns, and why it is needed, got %+v", g.Name, a)
			}
			narrow := len(g.Conditions) > 0 || g.Resources[0] != "*" && !strings.HasSuffix(g.Resources[0], "/*")
			if !reads.MatchString(a.Name) && !narrow && !strings.HasPrefix(a.Name, "s3:") {
				t.Errorf("%s: %s changes something, wherever it is: want a condition or narrower resources", g.Name, a.Name)
			}
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		o      Options
		err    string
	}{
		{"nothing said is the least", Options{}, ""},
		{"policies may be added to roles that are made alone", Options{EKS: true, EKSAddRoles: true}, ""},
		{"roles are for node groups", Options{EKSIAM: true}, "node groups"},
		{"a partition begins with aws", Options{Partition: "gcp"}, "partition"},
		{"a bucket is no address", Options{Bucket: "s3://b"}, "bucket"},
		{"a role's name is no ARN", Options{NodeRoles: []string{"arn:aws:iam::1:role/r"}}, "node role"},
		{"a role to assume is an ARN", Options{AssumeRoles: []string{"tenant"}}, "ARN"},
	} {
		_, err := Grants(c.o)
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: want an error with %q, got %v", c.reason, c.err, err)
		}
	}
}

// Many names make several documents, none of which is too long.
func TestSplit(t *testing.T) {
	t.Parallel()
	o := all()
	for i := range 40 {
		o.AssumeRoles = append(o.AssumeRoles, fmt.Sprintf("arn:aws:iam::%012d:role/some-role-with-a-long-name-%d", i, i))
	}
	documents, err := Documents(o)
	if err != nil || len(documents) < 2 {
		t.Fatalf("want several documents, got %d, %v", len(documents), err)
	}
	statements := 0
	for _, d := range documents {
		size, err := Size(d)
		if err != nil || size > Limit {
			t.Errorf("want at most %d characters in each, got %d, %v", Limit, size, err)
		}
		statements += len(d.Statement)
	}
	grants, err := Grants(o)
	if err != nil || statements != len(grants) {
		t.Errorf("want every grant in one of them, got %d of %d, %v", statements, len(grants), err)
	}
	for i := range 200 {
		o.AssumeRoles = append(o.AssumeRoles, fmt.Sprintf("arn:aws:iam::%012d:role/r-%d", i, i))
	}
	if _, err := Documents(o); err == nil || !strings.Contains(err.Error(), "MusterAssumeRoles") {
		t.Errorf("want a statement that is too long by itself refused by name, got %v", err)
	}
}
