package aws_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws"
)

// FuzzWire holds that whatever comes over the wire, signed or not, is answered in the shape of a service: no internal error,
// and a body that an SDK can read.
func FuzzWire(f *testing.F) {
	form := "application/x-www-form-urlencoded"
	amzJSON := "application/x-amz-json-1.1"
	f.Add("ec2", http.MethodPost, "/", "", form, "",
		[]byte("Action=DescribeInstances&Version=2016-11-15&Filter.1.Name=tag:x&Filter.1.Value.1=*&MaxResults=5&NextToken=AAAA"), "")
	f.Add("ec2", http.MethodGet, "/", "Action=DescribeVpcs&Version=2016-11-15", "", "", []byte(nil), "")
	f.Add("autoscaling", http.MethodPost, "/", "", form, "",
		[]byte("Action=DescribeAutoScalingGroups&Version=2011-01-01&Filters.member.1.Name=tag-key&Filters.member.1.Values.member.1=x&"+
			"NextToken=%%"), "")
	f.Add("ssm", http.MethodPost, "/", "", amzJSON, "AmazonSSM.GetParameter",
		[]byte(`{"Name":"/aws/service/eks/optimized-ami/1.33/amazon-linux-2/recommended/image_id"}`), "")
	f.Add("ssm", http.MethodPost, "/", "", amzJSON, "AmazonSSM.GetParametersByPath",
		[]byte(`{"Path":"/aws","Recursive":true,"NextToken":"eA","MaxResults":-1}`), "")
	f.Add("ssm", http.MethodPost, "/", "", amzJSON, "x", []byte(`[`), "")
	f.Add("sts", http.MethodPost, "/", "", form, "",
		[]byte("Action=AssumeRole&Version=2011-06-15&RoleArn=arn:aws:iam::123456789012:role/r&RoleSessionName=s&DurationSeconds=900"), "")
	f.Add("eks", http.MethodGet, "/clusters/a%20b", "", "", "", []byte(nil), "")
	f.Add("eks", http.MethodPost, "/clusters", "", "application/json", "",
		[]byte(`{"name":"a","version":"1.34","roleArn":"x","resourcesVpcConfig":{"subnetIds":["subnet-0a1b2c3d4e5f60001"]}}`), "")
	f.Add("eks", http.MethodPost, "/clusters/a/node-groups", "", "application/json", "",
		[]byte(`{"nodegroupName":"b","nodeRole":"arn:aws:iam::123456789012:role/x","scalingConfig":{"minSize":1},"launchTemplate":{}}`), "")
	f.Add("eks", http.MethodGet, "/clusters/a/updates", "nodegroupName=b&maxResults=x&nextToken=%25", "", "", []byte(nil), "")
	f.Add("eks", http.MethodDelete, "/tags/arn:aws:eks:x", "tagKeys=a&tagKeys=b", "", "", []byte(nil), "")
	f.Add("iam", http.MethodPost, "/", "", form, "",
		[]byte("Action=CreateRole&Version=2010-05-08&RoleName=a&AssumeRolePolicyDocument=%7B%7D&Tags.member.1.Key=a"), "")
	f.Add("iam", http.MethodPost, "/", "", form, "", []byte("Action=ListRoles&Version=2010-05-08&Marker=%25&MaxItems=0"), "")
	f.Add("ec2", http.MethodPost, "//", "%zz", "", "", []byte("Action=%zz"),
		"AWS4-HMAC-SHA256 Credential=a/b/c/d/aws4_request, SignedHeaders=host, Signature=00")
	f.Add("", "PUT", "/x", "Version=2011-01-01", "text/plain", "AmazonSSM.GetParameter", []byte("Version=2011-01-01"), "Basic eDp5")
	f.Fuzz(func(t *testing.T, service, method, path, query, kind, target string, body []byte, authorization string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://simulated.aws/"+strings.TrimPrefix(path, "/"),
			strings.NewReader(string(body)))
		if err != nil || strings.HasPrefix(r.URL.Path, sim.AdminPath) || method == http.MethodHead {
			return
		}
		r.URL.RawQuery = query
		for name, value := range map[string]string{"Content-Type": kind, "X-Amz-Target": target} {
			r.Header.Set(name, value)
		}
		sum := sha256.Sum256(body)
		keys := awssdk.Credentials{AccessKeyID: aws.AccessKeyID, SecretAccessKey: aws.SecretAccessKey}
		ok(t, v4.NewSigner().SignHTTP(t.Context(), keys, r, hex.EncodeToString(sum[:]), service, aws.Region, time.Now()))
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		s, err := aws.New(aws.Options{Speed: 1e9, Limits: aws.Limits{}})
		ok(t, err)
		defer func() { ok(t, s.Close()) }()
		resp, err := sim.Transport{Handler: s}.RoundTrip(r)
		ok(t, err)
		defer func() { _ = resp.Body.Close() }()
		answer, err := io.ReadAll(resp.Body)
		ok(t, err)
		if resp.StatusCode >= http.StatusInternalServerError {
			t.Fatalf("want no internal error, got %d\n%s", resp.StatusCode, answer)
		}
		if resp.StatusCode == http.StatusRequestEntityTooLarge {
			return
		}
		shaped(t, resp, answer)
	})
}

// shaped fails when an answer has not the shape of its protocol.
func shaped(t *testing.T, resp *http.Response, answer []byte) {
	t.Helper()
	if resp.Header.Get("X-Amzn-Requestid") == "" {
		t.Errorf("want a request ID, got %v", resp.Header)
	}
	if strings.Contains(resp.Header.Get("Content-Type"), "json") {
		var body map[string]any
		if err := json.Unmarshal(answer, &body); err != nil || (resp.StatusCode != http.StatusOK) != (body["__type"] != nil ||
			resp.Header.Get("X-Amzn-Errortype") != "") {
			t.Errorf("want an answer in JSON with its type when it is a refusal, got %d, %v, %s", resp.StatusCode, err, answer)
		}
		return
	}
	var names []string
	d := xml.NewDecoder(strings.NewReader(string(answer)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("want XML, got %v in %s", err, answer)
		}
		if start, is := token.(xml.StartElement); is {
			names = append(names, start.Name.Local)
		}
	}
	if len(names) == 0 || (resp.StatusCode != http.StatusOK) != (slices.Contains(names, "Code") && slices.Contains(names, "Error")) {
		t.Errorf("want an answer in XML with a code when it is a refusal, got %d, %s", resp.StatusCode, answer)
	}
}
