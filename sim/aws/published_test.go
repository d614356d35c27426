package aws_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/sim/aws/wire"
	"github.com/muster-project/muster/test/specs"
)

func TestOperationsArePublished(t *testing.T) {
	spec, all := specs.AWS(), aws.Operations()
	for service, names := range all {
		served := map[string]bool{}
		for _, name := range names {
			served[service+"."+name] = true
			o := spec.Operation(service + "." + name)
			if o == nil {
				t.Errorf("%s.%s is not published", service, name)
				continue
			}
			if o.Version != wire.APIVersions[service] {
				t.Errorf("%s: want version %q, got %q", o.ID, o.Version, wire.APIVersions[service])
			}
		}
		for _, id := range spec.IDs(service) {
			if !served[id] {
				t.Errorf("%s is not served: take it out of the table", id)
			}
		}
	}
}

// TestRequiredMembersAreRequired sends each operation a request that lacks one required member: it is refused.
func TestRequiredMembersAreRequired(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		spec, tried := specs.AWS(), 0
		for _, service := range slices.Sorted(maps.Keys(wire.APIVersions)) {
			for _, id := range spec.IDs(service) {
				o := spec.Operation(id)
				for _, left := range o.Required() {
					form := url.Values{"Action": {strings.TrimPrefix(id, service+".")}, "Version": {o.Version}}
					for _, name := range o.Required() {
						if name != left {
							form.Set(name, "1")
						}
					}
					status, answer := sendForm(t, w.server, service, form.Encode())
					if code := missingCode[service]; status != http.StatusBadRequest || !strings.Contains(answer, "<Code>"+code+"</Code>") {
						t.Errorf("%s without %s: want 400 %s, got %d %s", id, left, code, status, answer)
					}
					tried++
				}
			}
		}
		if tried == 0 {
			t.Error("want required members")
		}
	})
}

// missingCode is how the services refuse a request without a required member.
var missingCode = map[string]string{wire.ServiceEC2: "MissingParameter", wire.ServiceAutoScaling: "ValidationError",
	wire.ServiceIAM: "ValidationError", wire.ServiceSTS: "ValidationError"}

// TestRequestsThatAreNotPublished shows that the check of requests and answers notices what is wrong with one, and accepts what is right.
func TestRequestsThatAreNotPublished(t *testing.T) {
	const (
		group    = "&Version=2011-01-01&AutoScalingGroupName=g"
		template = "Action=CreateLaunchTemplate&Version=2016-11-15&LaunchTemplateName=n&LaunchTemplateData."
	)
	for _, row := range []struct{ method, path, body, want string }{
		{"POST", "/", "Action=CreateAutoScalingGroup&MinSize=0&MaxSize=1&Tags.member.1.Key=k" + group, ""},
		{"POST", "/", "Action=CreateOrUpdateTags&Version=2011-01-01&Tags.member.1.Key=k&Tags.member.2.Value=v",
			`the member Key is needed at "Tags[1]"`},
		{"POST", "/", template + "CreditSpecification.CpuCredits=standard", ""},
		{"POST", "/", template + "InstanceRequirements.MemoryMiB.Max=1",
			`the member Min is needed at "LaunchTemplateData.InstanceRequirements.MemoryMiB"`},
		{"POST", "/", "Action=CreateAutoScalingGroup&MinSize=0" + group, "the member MaxSize is needed"},
		{"POST", "/", "Action=CreateAutoScalingGroup&MinSize=0&MaxSize=1&Tag.1.Key=k" + group, "no member Tag is published"},
		{"POST", "/", "Action=MakeAutoScalingGroup" + group, "no operation is published"},
		{"POST", "/", "Action=RunInstances" + group, "no operation is published"},
		{"POST", "/clusters/c/node-groups", `{"nodegroupName":"n","nodeRole":"r","subnets":["s"]}`, ""},
		{"POST", "/clusters/c/node-groups", `{"nodegroupName":"n","nodeRole":"r"}`, "the member subnets is needed"},
		{"POST", "/clusters/c/node-groups", `{"nodegroupName":"n","nodeRole":"r","subnets":["s"],"size":1}`, "no member size"},
		{"PUT", "/clusters/c/node-groups", "{}", "no operation is published"},
		{"GET", "/clusters/c/node-groups?maxResults=1", "", ""},
		{"GET", "/clusters/c/node-groups?limit=1", "", "has no parameter limit"},
	} {
		r := httptest.NewRequest(row.method, row.path, nil)
		if strings.HasPrefix(row.body, "Action") {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		err := specs.AWS().Request(r, row.body)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s %s %s: want %q, got %v", row.method, row.path, row.body, row.want, err)
		}
	}
	answersThatAreNotPublished(t, group)
}

// TestRequestsToSSMAndS3 shows the same of the services whose operations headers tell.
func TestRequestsToSSMAndS3(t *testing.T) {
	for _, row := range []struct{ method, url, target, source, body, want string }{
		{"POST", "http://ssm.aws.sim/", "GetParameter", "", `{"Name":"n","WithDecryption":true}`, ""},
		{"POST", "http://ssm.aws.sim/", "GetParameter", "", `{"name":"n"}`, "no member name is published"},
		{"POST", "http://ssm.aws.sim/", "GetParameters", "", `{}`, "the member Names is needed"},
		{"POST", "http://ssm.aws.sim/", "GetParametersByPath", "", `{"Path":"/a","ParameterFilters":[{"Key":"k"},{"Option":"o"}]}`,
			`the member Key is needed at "ParameterFilters[1]"`},
		{"POST", "http://ssm.aws.sim/", "PutParameter", "", `{"Name":"n"}`, "no operation is published"},
		{"PUT", "http://b.s3.aws.sim/k?x-id=PutObject", "", "", "text", ""},
		{"PUT", "http://s3.aws.sim/b/k?x-id=PutObject", "", "", "text", ""},
		{"PUT", "http://s3.aws.sim/b?x-id=PutObject", "", "", "text", "no operation is published"},
		{"PUT", "http://b.s3.aws.sim/k?x-id=CopyObject", "", "b/k", "", ""},
		{"PUT", "http://b.s3.aws.sim/k?x-id=CopyObject", "", "", "", "needs the header X-Amz-Copy-Source"},
		{"HEAD", "http://b.s3.aws.sim/k", "", "", "", ""},
		{"GET", "http://b.s3.aws.sim/k?x-id=GetObject&versionId=1", "", "", "", ""},
		{"GET", "http://b.s3.aws.sim/k?x-id=GetObject&version=1", "", "", "", "has no parameter version"},
		{"POST", "http://b.s3.aws.sim/k?x-id=DeleteObject", "", "", "", "no operation is published"},
	} {
		r := httptest.NewRequest(row.method, row.url, nil)
		if r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=k/20260101/eu-west-1/s3/aws4_request"); row.target != "" {
			r.Header.Set("X-Amz-Target", "AmazonSSM."+row.target)
		}
		if row.source != "" {
			r.Header.Set("X-Amz-Copy-Source", row.source)
		}
		err := specs.AWS().Request(r, row.body)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s %s %s %s: want %q, got %v", row.method, row.url, row.target, row.body, row.want, err)
		}
	}
}

// answersThatAreNotPublished shows that the check of answers notices an error that an operation does not declare.
func answersThatAreNotPublished(t *testing.T, group string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for code, declared := range map[string]bool{"AlreadyExists": true, "ValidationError": true, "ResourceInUse": false} {
		answer := fmt.Sprintf("<ErrorResponse><Error><Code>%s</Code></Error></ErrorResponse>", code)
		err := specs.AWS().Answer(r, "Action=CreateAutoScalingGroup"+group, &http.Response{StatusCode: http.StatusBadRequest}, []byte(answer))
		if (err == nil) != declared {
			t.Errorf("%s: want declared %t, got %v", code, declared, err)
		}
	}
}
