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

// told are the parameters of a write that a trace shows; of all of them it shows a hash.
var told = []string{
	"AutoScalingGroupName", "DesiredCapacity", "MinSize", "MaxSize", "InstanceId", "ShouldDecrementDesiredCapacity", "VPCZoneIdentifier",
	"LaunchTemplate.Version", "LaunchTemplateName", "VersionDescription", "LaunchTemplateVersion.1", "LaunchTemplateVersion.2",
	"LifecycleHookName",
	"Tags.member.1.Key", "DefaultCooldown", "RoleName", "PolicyArn",
}

// asked is what a write asks for, without its secrets, and which instances it names.
func asked(service string, req *http.Request, body []byte) (text string, named []string, err error) {
	if service == "eks" {
		if req.Method != http.MethodDelete {
			named = []string{}
		}
		return askedOfEKS(req, body), named, nil
	}
	return askedInAForm(body)
}

// askedInAForm is asked of the services that are asked in forms.
func askedInAForm(body []byte) (text string, named []string, err error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return "", nil, fmt.Errorf("read the request: %w", err)
	}
	var words []string
	for _, name := range told {
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

// members are the values of a list in a request.
func members(form url.Values, prefix string) []string {
	var list []string
	for k := 1; form.Has(prefix + strconv.Itoa(k)); k++ {
		list = append(list, form.Get(prefix+strconv.Itoa(k)))
	}
	return list
}

// tokenEKS is where the token of a request to EKS is that makes it once.
const tokenEKS = "clientRequestToken"

// askedOfEKS is what a request to EKS asks for, as a trace shows it: in one order, and without the token where the client makes one up.
// It holds no secret.
func askedOfEKS(req *http.Request, body []byte) string {
	var asked map[string]any
	if json.Unmarshal(body, &asked) != nil {
		return req.URL.Path
	}
	if strings.HasSuffix(req.URL.Path, "/update-config") {
		delete(asked, tokenEKS)
	}
	text, err := json.Marshal(asked)
	if err != nil {
		return req.URL.Path
	}
	return req.URL.Path + " " + string(text)
}

// asSpecified is a whole request without the token that the client makes up where the caller gives it none.
func asSpecified(form url.Values) string {
	if form.Get("Action") == "ModifyLaunchTemplate" {
		form.Del("ClientToken")
	}
	return form.Encode()
}
