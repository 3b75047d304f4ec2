import type * as API from "turnwire";
import type { File } from "./contract.ts";
import { InvalidArgumentError } from "./errors.ts";
import { guarded } from "./listeners.ts";
import type { Session } from "./session.ts";
import { frozenFile, Upload, uploadKey, uploads } from "./upload.ts";
import { requestConfig, segment } from "./validate.ts";
import { uploadConfig, waitConfig } from "./validate-files.ts";

export class Files implements API.Files {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  upload(data: API.UploadData, options?: API.UploadOptions): API.Upload {
    this.#session.check();
    const config = uploadConfig(data, options, this.#session.config);
    // A double click, or an effect that a framework runs twice: the key names one upload. One that was aborted has ended,
    // though the service may still have to hear of it.
    const key = config.resumeKey !== undefined && uploadKey(this.#session, config);
    for (const [upload, session] of uploads) {
      if (session !== this.#session || upload.key !== key || upload.ending) continue;
      if (upload.isOf(data)) return upload;
      throw new InvalidArgumentError(`resumeKey must be another: an upload of other data is under way under "${config.resumeKey}"`, "invalid_argument");
    }
    return new Upload(this.#session, data, config);
  }

  async get(fileId: string, options?: API.RequestOptions): Promise<API.AgentFile> {
    const session = this.#session;
    session.check();
    const id = segment(fileId, "fileId", "given");
    const { signal, ...limits } = requestConfig(options, session.config);
    const { file } = await session.call(signal, ({ instance, client }, call) => instance.control.getFile(call, client, { ...limits, fileId: id }));
    return frozenFile(file!);
  }

  async wait(fileId: string, options?: API.WaitOptions): Promise<API.AgentFile> {
    const session = this.#session;
    session.check();
    const id = segment(fileId, "fileId", "given");
    const { signal, onStatus, ...limits } = waitConfig(options, session.config);
    const status = (file: File): void => {
      if (onStatus) queueMicrotask(() => guarded(() => onStatus(frozenFile(file))));
    };
    const { file } = await session.call(signal, ({ instance, client }, call) =>
      instance.control.waitFile(call, client, { ...limits, fileId: id }), { status });
    return frozenFile(file!);
  }
}
