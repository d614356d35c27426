package world

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// inWords is what a write asks for, without its secrets, and which instances it names.
func (a *account) inWords(service string, req *http.Request) (text string, named []string, err error) {
	var body []byte
	if req.Body != nil {
		if body, err = io.ReadAll(req.Body); err != nil {
			return "", nil, fmt.Errorf("read the request: %w", err)
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	if a.azure != nil {
		text, named = a.askedOfAzure(req, body)
		return text, named, nil
	}
	if service == "eks" {
		if req.Method != http.MethodDelete {
			named = []string{}
		}
		return askedOfEKS(req, body), named, nil
	}
	return askedInAForm(body)
}

// askedInAForm is inWords of the services that are asked in forms.
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

// errorCodes are where the services put the word for what is wrong.
var errorCodes = []*regexp.Regexp{regexp.MustCompile(`<Code>([^<]*)</Code>`), regexp.MustCompile(`^\{"error":\{"code":"([^"]*)"`)}

// ending is how a call ended, in words.
func ending(reply *http.Response, err error) string {
	if err != nil {
		return "no reply"
	}
	if reply.StatusCode < http.StatusMultipleChoices {
		return "ok"
	}
	body, _ := io.ReadAll(reply.Body)
	reply.Body = io.NopCloser(bytes.NewReader(body))
	code := cmp.Or(reply.Header.Get("X-Amzn-Errortype"), "?")
	for _, form := range errorCodes {
		if found := form.FindSubmatch(body); found != nil {
			code = string(found[1])
		}
	}
	return fmt.Sprintf("%d %s", reply.StatusCode, code)
}
