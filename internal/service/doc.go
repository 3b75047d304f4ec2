// Package service is the reference Conversational Agent Service: every endpoint of
// docs/service-interface.md as an [http.Handler]. It is written from the interface and shares no code with
// the client, so that one checks the other. Where the interface says "not shown" it does what a careful
// service would; docs/profile.md is the client's side.
package service
