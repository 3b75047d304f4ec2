import type * as API from "turnwire";
import type { ClientContext } from "./client-context.ts";
import { invalid } from "./invalid.ts";
import { frozenFile, statusTo, Upload, uploadKey, uploads } from "./upload.ts";
import { requestConfig, segment } from "./validate.ts";
import { uploadConfig, waitConfig } from "./validate-files.ts";

export const filesOf = (context: ClientContext): API.Files => ({
  upload(data, options) {
    context.check();
    const config = uploadConfig(data, options, context.config);
    // A double click, or an effect that a framework runs twice: the key names one upload. One that was aborted has ended,
    // though the service may still have to hear of it.
    const key = config.resumeKey !== undefined && uploadKey(context, config);
    for (const [upload, of] of uploads) {
      if (of !== context || upload.key !== key || upload.ending) continue;
      if (upload.isOf(data)) return upload;
      throw invalid("resumeKey", `another: an upload of other data is under way under "${config.resumeKey}"`);
    }
    return new Upload(context, data, config);
  },

  async get(fileId, options) {
    context.check();
    const id = segment(fileId, "fileId", "given");
    const { file } = await context.call("getFile", { ...requestConfig(options, context.config), fileId: id });
    return frozenFile(file!);
  },

  async wait(fileId, options) {
    context.check();
    const id = segment(fileId, "fileId", "given");
    const { onStatus, ...limits } = waitConfig(options, context.config);
    const { file } = await context.call("waitFile", { ...limits, fileId: id }, false, statusTo(onStatus));
    return frozenFile(file!);
  },
});
