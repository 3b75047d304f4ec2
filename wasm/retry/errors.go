package retry

import (
	"strconv"

	"github.com/seed-76f09577/turnwire/wasm/api"
)

func broken(request *api.Request, detail string) *api.Error {
	err := &api.Error{Kind: api.KindConnection, Code: "connection_failed", Retryable: true,
		Message: request.Method + " " + request.Path + " got no answer: check that baseURL is reachable and that the service allows this page's origin (CORS)"}
	if detail != "" {
		err.Message += " (" + detail + ")"
	}
	return err
}

func keyLate(policy *Policy) *api.Error {
	return &api.Error{Kind: api.KindTimeout, Code: "api_key_timeout", Retryable: true,
		Message: "option apiKey: the function that should give the key gave none within " + strconv.FormatInt(policy.Timeout, 10) +
			" ms (option timeout), nothing was sent; the next request asks it again"}
}

func late(request *api.Request, policy *Policy) *api.Error {
	return &api.Error{Kind: api.KindTimeout, Code: "response_timeout", Retryable: true,
		Message: request.Method + " " + request.Path + " got no answer within " + strconv.FormatInt(policy.Timeout, 10) + " ms (option timeout)"}
}
