package blobstore

import (
	"encoding/xml"
	"errors"
	"io"
	"net/http"

	"github.com/seed-76f09577/turnwire/internal/service"
)

// storageError is an answer that is not 2xx, in Azure's form.
type storageError struct {
	XMLName xml.Name `xml:"Error"`
	Status  int      `xml:"-"`
	Code    string
	Message string
	Detail  string `xml:"AuthenticationErrorDetail,omitempty"`
	// Header names the header that is wrong, Query the query parameter.
	Header string `xml:"HeaderName,omitempty"`
	Query  string `xml:"QueryParameterName,omitempty"`
}

func (e *storageError) Error() string { return e.Code + ": " + e.Message }

func failure(status int, code, message string) *storageError {
	return &storageError{Status: status, Code: code, Message: message}
}

func badQuery(name, message string) *storageError {
	e := failure(http.StatusBadRequest, "InvalidQueryParameterValue", message)
	e.Query = name
	return e
}

func badHeader(name, message string) *storageError {
	e := failure(http.StatusBadRequest, "InvalidHeaderValue", message)
	e.Header = name
	return e
}

// explain gives the answer to an error of an object.
func explain(err error) *storageError {
	var known *storageError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, errSealed):
		return failure(http.StatusConflict, "BlobImmutableDueToPolicy", "the upload of this object was reported: it takes no more bytes")
	case errors.Is(err, errRemoved), errors.Is(err, service.ErrNoBytes):
		return failure(http.StatusNotFound, "BlobNotFound", "The specified blob does not exist.")
	case errors.Is(err, errLength):
		return failure(http.StatusBadRequest, "InvalidBlobOrBlock", "The specified blob or block content is invalid: all block identifiers of a blob must be of one length.")
	case errors.Is(err, errBlockList):
		return failure(http.StatusBadRequest, "InvalidBlockList", "The specified block list is invalid.")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return failure(http.StatusBadRequest, "IncompleteBody", "the body ended before Content-Length")
	}
	return failure(http.StatusInternalServerError, "InternalError", "the object could not be stored: "+err.Error())
}

// WriteError answers a status in Azure's form, under the code that it has there.
func (s *Store) WriteError(w http.ResponseWriter, status int, message string) {
	codes := map[int]string{
		http.StatusForbidden: "AuthenticationFailed", http.StatusNotFound: "BlobNotFound", http.StatusConflict: "BlobAlreadyExists",
		http.StatusInternalServerError: "InternalError", http.StatusServiceUnavailable: "ServerBusy", http.StatusTooManyRequests: "TooManyRequests",
	}
	code, ok := codes[status]
	if !ok {
		code = "Fault"
	}
	writeError(w, failure(status, code, message))
}

func writeError(w http.ResponseWriter, e *storageError) {
	w.Header().Set("x-ms-error-code", e.Code)
	writeXML(w, e.Status, e)
}

func writeXML(w http.ResponseWriter, status int, body any) {
	encoded, err := xml.Marshal(body)
	if err != nil {
		http.Error(w, "encode answer", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = w.Write(append([]byte(xml.Header), encoded...))
}
