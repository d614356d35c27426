package aws

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// shownParameters lists the parameters of a write that a trace shows; all parameters go into a hash.
var shownParameters = []string{
	"AutoScalingGroupName", "DesiredCapacity", "MinSize", "MaxSize", "InstanceId", "ShouldDecrementDesiredCapacity", "VPCZoneIdentifier",
	"LaunchTemplate.Version", "LaunchTemplateName", "VersionDescription", "LaunchTemplateVersion.1", "LaunchTemplateVersion.2",
	"LifecycleHookName",
	"Tags.member.1.Key", "DefaultCooldown", "RoleName", "PolicyArn",
}

// describe describes a write without its secrets, and returns the instances that it names.
func describe(service string, req *http.Request, body []byte) (text string, named []string, err error) {
	if service == "eks" {
		if req.Method != http.MethodDelete {
			named = []string{}
		}
		return describeEKS(req, body), named, nil
	}
	return describeForm(body)
}

// describeForm describes a request to the services with form-encoded requests.
func describeForm(body []byte) (text string, named []string, err error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return "", nil, fmt.Errorf("read the request: %w", err)
	}
	var words []string
	for _, name := range shownParameters {
		if form.Has(name) {
			words = append(words, name+"="+form.Get(name))
		}
	}
	switch form.Get("Action") {
	case "CompleteLifecycleAction":
		named = []string{form.Get("InstanceId")}
	case "TerminateInstanceInAutoScalingGroup", "EnterStandby":
		named = members(form, "InstanceIds.member.")
		if one := form.Get("InstanceId"); one != "" {
			named = append(named, one)
		}
	case "DeleteAutoScalingGroup":
		named = nil // all go
	default:
		named = []string{} // other calls take no machine themselves; what the cloud does about a lower size comes later
	}
	sum := sha256.Sum256([]byte(asSpecified(form)))
	return strings.Join(append(words, "("+hex.EncodeToString(sum[:4])+")"), " "), named, nil
}

// members returns the values of a list in a request.
func members(form url.Values, prefix string) []string {
	var list []string
	for k := 1; form.Has(prefix + strconv.Itoa(k)); k++ {
		list = append(list, form.Get(prefix+strconv.Itoa(k)))
	}
	return list
}

// tokenEKS is where the token of a request to EKS is that makes it once.
const tokenEKS = "clientRequestToken"

// describeEKS describes a request to EKS for the trace: in a fixed order, and without the token where the client generates one. It holds no
// secret.
func describeEKS(req *http.Request, body []byte) string {
	var fields map[string]any
	if json.Unmarshal(body, &fields) != nil {
		return req.URL.Path
	}
	if strings.HasSuffix(req.URL.Path, "/update-config") {
		delete(fields, tokenEKS)
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return req.URL.Path
	}
	return req.URL.Path + " " + string(text)
}

// asSpecified returns a whole request without the token that the client makes up where the caller gives it none.
func asSpecified(form url.Values) string {
	if form.Get("Action") == "ModifyLaunchTemplate" {
		form.Del("ClientToken")
	}
	return form.Encode()
}
